//! Fingerprint input: one record a line (or number, or row), from files or standard input, in several formats.
//!
//! An [`Input`] is opened first, and tells what it knows of its fingerprints without being read: a header line, the
//! ending of its name or the schema of a Parquet file may say their width. Its [`Reader`] then gives the [`Entry`]s in
//! order; an [`IdRule`], shared by all inputs of a load, holds their ids to one kind. What every format has in common:
//!
//! * Memory is bounded whatever the input holds: a line is at most [`LINE_LIMIT`] bytes, files are streamed and
//!   decompressed as they are read.
//! * What an input holds is told by its content before its name, so that a wrong name does not have it misread.
//! * Nothing is skipped in silence. Blank lines and lines that begin with `#` are no records; all else is a record or
//!   an error that names the input and the line (or the number of the record, for raw integers and Parquet).
//! * Carriage returns before the line feed and a byte-order mark at the start are no part of the text.
//!
//! The path from bytes to records: `sources` says what the command line names, `source` opens it and decompresses it
//! (`compression`), `window` buffers, `header` and `recognise` look ahead, `lines` and `values` split, `sections` holds lines to
//! what their writer announced, `text`, `digits`, `dec`, `le`, `ndjson` (by `object`), `csv` and `parquet` decode one record
//! each, `reader` ties them together and `series` reads several inputs as one, `quality` passes records over, `ids` judges ids,
//! `feed` hands the records of an input to a load. `id_reader` reads ids alone; `labels` reads another kind of input, labels of
//! clusters; `crate::documents` a third.

mod compression;
pub(crate) mod csv;
mod decimal;
mod digits;
mod entry;
mod feed;
pub(crate) mod format;
mod header;
mod hex;
mod id_reader;
pub(crate) mod ids;
mod labels;
mod le;
pub(crate) mod lines;
mod ndjson;
pub(crate) mod object;
mod opened;
pub(crate) mod options;
#[cfg_attr(not(feature = "parquet"), path = "parquet_missing.rs")]
pub(crate) mod parquet;
pub(crate) mod place;
mod quality;
pub(crate) mod reader;
pub(crate) mod recognise;
mod sections;
pub(crate) mod selection;
mod series;
pub(crate) mod source;
pub(crate) mod sources;
#[cfg(test)]
pub(crate) mod testing;
mod text;
pub(crate) mod values;
pub(crate) mod window;

pub use compression::{Compression, ToldBy};
pub use digits::Digits;
pub use entry::Entry;
pub use feed::{Fed, feed, numbered};
pub use format::{Format, width_of_name};
pub use header::{HEADER_KEY, Header};
pub use hex::parse_hex;
pub use id_reader::IdReader;
pub use ids::{Found, IdRule, Ids, RawId};
pub use labels::{LabelLines, LabelReader};
pub use lines::LINE_LIMIT;
pub use opened::Input;
pub use options::InputOptions;
pub use place::Place;
use quality::Quality;
pub use reader::Reader;
pub use selection::Selection;
pub use series::Series;
pub use source::Source;
pub use sources::{is_store, sources};
