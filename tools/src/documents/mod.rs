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
mod document;
mod each;
mod fault;
mod inputs;
mod item;
mod limits;
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
pub use document::{Document, DocumentId};
pub use each::{Counts, Made, each, each_or_fault};
pub use fault::{Fault, FaultKind};
pub use inputs::Inputs;
pub use item::Location;
pub use limits::{DOCUMENT_LIMIT, TOKEN_LIMIT};
pub use options::{DocumentFormat, DocumentOptions};
pub use rejects::{LeaveOptions, LeftOut, OnError, RejectOptions, Rejects};
