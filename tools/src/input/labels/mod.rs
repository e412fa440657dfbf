//! Labels of clusters, as `fpdedup clusters` writes them: a record and its cluster a row.
//!
//! TSV (`id<TAB>cluster`), CSV, NDJSON and Parquet (with these names, or `fingerprint` for `id` where there are no ids), by the
//! ending of the name; standard input is TSV.

pub(super) mod cell;
mod lines;
mod reader;

pub use lines::LabelLines;
pub use reader::LabelReader;
