//! A second reader of fpstore's files, for differential fuzzing: slow and simple, written from format-spec/, with one
//! module for each of its documents. It shares no code with the library. (Both use zstd to decompress text ids, because
//! that format is not part of fpstore.)
//!
//! It refuses everything that the specification calls invalid, including the checks of a verifying program.

pub mod blocks;
pub mod codes;
pub mod conventions;
pub mod ids;
pub mod logs;
pub mod manifest;
pub mod plan;
pub mod seal;
pub mod segment;
pub mod text_ids;

/// The read value, or the fault.
pub type Res<T> = Result<T, &'static str>;

/// Returns an error unless the condition holds.
pub fn require(condition: bool, what: &'static str) -> Res<()> {
    if condition { Ok(()) } else { Err(what) }
}
