//! A second reader of fpstore's files, for differential fuzzing: slow, obvious, written after format-spec/, one module
//! for each of its documents. It shares no code with the library. (Text ids are decompressed by zstd in both: that
//! format is not ours.)
//!
//! Everything that the specification calls invalid is refused here, also what only a verifying program has to notice.

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

/// What was read, or what is wrong with it.
pub type Res<T> = Result<T, &'static str>;

/// Goes on only if the condition holds.
pub fn require(condition: bool, what: &'static str) -> Res<()> {
    if condition { Ok(()) } else { Err(what) }
}
