//! Fingerprint input: one record a line (or number, or row), from files or standard input, in several formats.
//!
//! Opening an [`Input`] reads no record, but may tell the width of its fingerprints: from a header line, the extension
//! of its name or the schema of a Parquet file. Its [`Reader`] returns the [`Entry`]s in order; an [`IdRule`], shared
//! by all inputs of a load, requires ids of one kind. All formats have in common:
//!
//! * Memory is bounded whatever the input holds: a line has at most [`LINE_LIMIT`] bytes, and files are streamed and
//!   decompressed as they are read.
//! * The content of an input decides about its format before its name, so a wrong name does not cause a misreading.
//! * Nothing is skipped silently. Blank lines and lines that begin with `#` are no records; everything else is a record
//!   or an error that names the input and the line (or the number of the record, for raw integers and Parquet).
//! * A carriage return before the line feed and a byte-order mark at the start are not part of the text.
//!
//! The path from bytes to records: `sources` expands the command line, `source` opens and decompresses (`compression`),
//! `window` buffers, `header` and `recognise` look ahead, `lines` and `values` split, `sections` checks lines against
//! what their writer announced. `text`, `le`, `ndjson` (by `object`), `csv` and `parquet` decode one record each;
//! `hex`, `decimal` and `digits` parse fingerprints. `reader` ties these together, `series` reads several inputs as
//! one, `quality` skips records, `ids` checks ids, and `feed` passes the records to a load. `id_reader` reads ids
//! alone, `attributes` ids and a column of values; `keys` reads records with keys, `labels` labels of clusters, and
//! `crate::documents` reads documents.

mod attributes;
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
pub(crate) mod json_value;
mod keys;
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
mod stream;
#[cfg(test)]
pub(crate) mod testing;
mod text;
pub(crate) mod values;
pub(crate) mod window;

pub use attributes::AttributeReader;
pub use compression::{Compression, ToldBy};
pub use digits::Digits;
pub use entry::Entry;
pub use feed::{Fed, feed, numbered};
pub use format::{Format, width_of_name};
pub use header::{HEADER_KEY, Header};
pub use hex::parse_hex;
pub use id_reader::IdReader;
pub use ids::{Found, IdRule, Ids, RawId};
pub use keys::KeyReader;
pub(crate) use keys::names::HASHER;
pub use labels::{Evidence, EvidenceReader, Ground, LabelLines, LabelReader};
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
