//! Parquet files, of which only the columns are read that matter.
//!
//! What the file itself says of a column's type counts, not what the program that wrote it noted beside:
//!
//! | column | types |
//! |---|---|
//! | fingerprint | UINT64 or INT64 (the 64 bits as they are, unless `--fingerprint-format dec` says that none is negative), for 64-bit fingerprints |
//! | | FIXED_LEN_BYTE_ARRAY or BYTE_ARRAY of exactly as many bytes: **big-endian**, the order of the hex digits |
//! | | STRING: hexadecimal digits, or what `--fingerprint-format` says |
//! | id | any integer (a negative one is refused), STRING, BYTE_ARRAY (read as UTF-8); null is as good as none |
//! | quality | any integer, FLOAT, DOUBLE |
//!
//! Encodings (dictionaries, too) and compression are the file's own affair; Brotli and LZO are not supported.
//!
//! Memory is bounded by the pages of the file, not by its row groups: pages are read one after another, and
//! [`BATCH`] rows of two columns are decoded at a time; texts stay in the pages that they came in.
//!
//! Parquet is read from its end, so a file that is compressed as a whole, or a pipe, is first copied to a temporary file
//! that has no name and goes away with the program.

mod batches;
pub(crate) mod columns;
mod file;
mod guard;
mod id_column;
mod labels;
mod numbers;
mod records;
mod table;

pub(crate) use self::batches::{Batches, LOST};
pub(super) use self::id_column::IdColumn;
pub(super) use self::labels::Labels;
pub(super) use self::records::{Parquet, Rows};
pub(crate) use self::table::Table;

#[cfg(test)]
mod tests;
