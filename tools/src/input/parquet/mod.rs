//! Reads Parquet files, decoding only the columns in use.
//!
//! The stored type of a column counts, not the annotations of the program that wrote it:
//!
//! | column | types |
//! |---|---|
//! | fingerprint | UINT64 or INT64 for 64-bit fingerprints: the 64 bits as they are |
//! | | FIXED_LEN_BYTE_ARRAY or BYTE_ARRAY of exactly as many bytes: **big-endian**, the order of the hex digits |
//! | | STRING: hexadecimal digits, or the notation of `--fingerprint-format` |
//! | id | any integer (negative ones are rejected), STRING, BYTE_ARRAY (read as UTF-8); null counts as no id |
//! | quality | any integer, FLOAT, DOUBLE |
//! | attribute | any integer, FLOAT, DOUBLE, BOOLEAN, DATE, TIME, TIMESTAMP, DECIMAL of up to 38 digits, STRING, bytes |
//!
//! `--fingerprint-format dec` rejects negative numbers. All encodings (including dictionaries) and
//! compressions are supported except Brotli and LZO.
//!
//! Memory is bounded by the pages of the file, not by its row groups: pages are read one after another, [`BATCH`] rows
//! of two columns are decoded at a time, and texts stay in the pages that hold them.
//!
//! Parquet is read from its end, so a file that is compressed as a whole, or a pipe, is first copied to an unnamed
//! temporary file, which the system removes with the process.

mod attributes;
mod batches;
pub(crate) mod cells;
pub(crate) mod columns;
mod file;
mod guard;
mod id_column;
mod key_lists;
mod labels;
mod numbers;
mod records;
mod table;

pub(super) use self::attributes::Attributes;
pub(crate) use self::batches::{Batches, LOST};
pub(crate) use self::guard::guarded;
pub(super) use self::id_column::IdColumn;
pub(super) use self::key_lists::KeyLists;
pub(super) use self::labels::Labels;
pub(super) use self::records::{Parquet, Rows};
pub(crate) use self::table::Table;

#[cfg(test)]
mod tests;
