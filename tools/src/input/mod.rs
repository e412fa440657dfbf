//! Fingerprint input: one record a line (or number), from files or standard input, in several formats.
//!
//! A [`Reader`] gives the [`Entry`]s of one input in order. What every format has in common:
//!
//! * Memory is bounded whatever the input holds: a line is at most [`LINE_LIMIT`] bytes, files are streamed and
//!   decompressed as they are read.
//! * Nothing is skipped in silence. Blank lines and lines that begin with `#` are no records; all else is a record or
//!   an error that names the input and the line (or the number of the record, for raw integers).
//! * Carriage returns before the line feed and a byte-order mark at the start are no part of the text.
//!
//! The path from bytes to records: `source` opens and decompresses, `window` buffers, `lines` splits,
//! `text`, `le` and `ndjson` decode one record each, `reader` ties them together, `collect` gathers records
//! of several inputs for a load.

mod collect;
mod format;
mod header;
mod le;
mod lines;
mod ndjson;
mod options;
mod place;
mod reader;
mod source;
mod text;
mod window;

pub use collect::{Collector, IdRule};
pub use format::{Compression, Format};
pub use options::{InputOptions, Selection};
pub use place::Place;
pub use reader::Reader;
pub use source::Source;
pub use text::parse_hex;

/// Longest line that is read, in bytes.
pub const LINE_LIMIT: usize = 1 << 20;

/// One record of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The fingerprint.
    pub fingerprint: u64,
    /// The id, where the input has one.
    pub id: Option<u64>,
}
