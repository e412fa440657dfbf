//! Reads documents from files, directories or standard input, to be turned into fingerprints.
//!
//! A [`Document`] has an optional id, and a text or ready-made tokens. [`Inputs`] are the inputs of the command line;
//! [`each`] reads them to their end and processes every document on all threads. Its guarantees:
//!
//! * Results come in the order of the input. The error reported is the first in that order, and comes after all results
//!   before it: nothing depends on the number of threads or on the timing of the input.
//! * A document that cannot be read is a [`Fault`] and does not stop the reading of others; [`Rejects`] decides whether
//!   it ends the run. An error of a whole input (a read error, a missing column) always ends it.
//! * Nothing is skipped silently. Blank lines of NDJSON and lines that begin with `#` are no documents; everything else
//!   is a document, or an error that names the input and the line (or the number of the record, in Parquet).
//! * A text is UTF-8 and has at most [`DOCUMENT_LIMIT`] bytes. Inputs are streamed and decompressed as they are read,
//!   and documents are read ahead only within the memory for them.
//!
//! The path from bytes to results: `options` and `inputs` determine what is read and how. `reader` cuts documents out
//! of its stream of lines, rows or files (those of fingerprint input, `crate::input`), and `queue` holds them. On the
//! working thread an `item` becomes a document or a `fault`. `each` ties these together, and `rejects` counts the
//! documents that are left out.

mod content;
mod copy;
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
mod recognised;
mod rejects;
mod similar;
mod spool;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod values;

pub use content::Content;
pub use copy::{CHANGED, Copied, Digest, Form, copy};
pub use document::{Document, DocumentId};
pub use each::{Counts, Made, each, each_or_fault};
pub use fault::{Fault, FaultKind};
pub use inputs::Inputs;
pub use item::Location;
pub use limits::{DOCUMENT_LIMIT, TOKEN_LIMIT};
pub use options::{DocumentFormat, DocumentOptions};
pub use rejects::{LeaveOptions, LeftOut, OnError, RejectOptions, Rejects};
pub use similar::{Comparison, LONG, SHORT, Similarity};
pub use spool::{Spool, Spooled};
pub use values::each_value;
