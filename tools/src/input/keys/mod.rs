//! Reads records with keys, of json, ndjson or parquet: an id, a list of keys, and a sketch if there is one.
//!
//! The keys are in `keys`: unsigned 64-bit integers, or, in Parquet, bytes or texts, whose keys are their XXH64 (seed
//! 0). Or they are in `bands`, as `fphash bands --json` writes them: strings of 16 hexadecimal digits. The sketch is in
//! `sketch`: hexadecimal digits, or bytes in Parquet. JSON objects may name in `hasher` what made the keys; then all
//! objects of an input name the same.

pub(crate) mod names;
mod object;
mod reader;

pub use reader::KeyReader;
