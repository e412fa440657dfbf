//! Labels of clusters, as `fpdedup clusters` writes them: a record and its cluster a row; and evidence (`evidence.rs`).
//!
//! The extension of the name determines the format: TSV (`id<TAB>cluster`), CSV, NDJSON or Parquet (with columns of
//! these names, or `fingerprint` instead of `id` in a store without ids). Standard input is TSV.

pub(super) mod cell;
mod evidence;
mod lines;
mod reader;

pub use evidence::{Evidence, EvidenceReader, Ground};
pub use lines::LabelLines;
pub use reader::LabelReader;
