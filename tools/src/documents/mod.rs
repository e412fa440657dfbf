//! Documents: what is to be turned into fingerprints, read from files, directories or standard input.
//!
//! A [`Document`] has an id, or none, and a text, or tokens that somebody has made already. [`Inputs`] are what the
//! command line names; [`each`] reads them to their end and makes something of every document on all threads. What holds:
//!
//! * The results come in the order of the input, and the first error in that order is the one that is told, after all
//!   results before it: nothing depends on the number of threads or on how the input arrives.
//! * A document that cannot be read is a [`Fault`] and does not end the reading of others; whether it ends the run is for
//!   [`Rejects`] to say. What is wrong with a whole input (it cannot be read on, or has no such column) always does.
//! * Nothing is skipped in silence. Blank lines of NDJSON and lines that begin with `#` are no documents; all else is one
//!   or an error that names the input and the line (or the number of the record, in Parquet).
//! * A text is UTF-8 and has at most [`DOCUMENT_LIMIT`] bytes. Inputs are streamed and decompressed as they are read, and
//!   documents are read only so far ahead as the memory for them goes.
//!
//! The path from bytes to results: `options` and `inputs` say what is read and how, `reader` and its `stream`s of lines,
//! rows and files (those of fingerprint input, `crate::input`) cut documents out of it one after another, `queue` holds
//! them, an `item` becomes a document, or a `fault`, on the thread that works on it, `each` ties them together, `rejects` keeps
//! count of those that are left out.

mod content;
mod each;
mod fault;
mod inputs;
mod item;
mod options;
#[cfg_attr(not(feature = "parquet"), path = "parquet_missing.rs")]
mod parquet;
mod queue;
mod reader;
mod rejects;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use content::Content;
pub use each::{Counts, Made, each, each_or_fault};
pub use fault::{Fault, FaultKind};
pub use inputs::Inputs;
pub use item::Location;
pub use options::{DocumentFormat, DocumentOptions};
pub use rejects::{LeaveOptions, LeftOut, OnError, RejectOptions, Rejects};

use fpstore::Id;

use crate::input::RawId;
use crate::input::ids::text;

/// Longest document that is read, in bytes: a line of NDJSON, a row of CSV, a text in Parquet, a file once it is
/// decompressed.
pub const DOCUMENT_LIMIT: usize = 64 << 20;

/// Most tokens that a document may have where they are ready-made.
pub const TOKEN_LIMIT: usize = 4 << 20;

/// One document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// What it says.
    pub content: Content,
}

/// The id of a document: one that a store takes, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DocumentId {
    /// The document has none.
    #[default]
    None,
    /// A number.
    Number(u64),
    /// A text, of 1 to 4096 bytes and without tabs and line ends.
    Text(String),
}

impl DocumentId {
    /// An id of an input that tells numbers from texts.
    fn typed(id: RawId<'_>) -> Result<Self, String> {
        Ok(match id {
            RawId::None => Self::None,
            RawId::Number(number) => Self::Number(number),
            RawId::Text(bytes) => Self::Text(text(bytes)?.to_owned()),
        })
    }

    /// An id of an input that does not: what looks like a number is one.
    fn untyped(id: RawId<'_>) -> Result<Self, String> {
        match id.own()? {
            Some(Id::Number(number)) => Ok(Self::Number(number)),
            _ => Self::typed(id),
        }
    }
}
