//! How large a document may be.

/// Longest document that is read, in bytes: a line of NDJSON, a row of CSV, a text in Parquet, a file once it is
/// decompressed.
pub const DOCUMENT_LIMIT: usize = 64 << 20;

/// Most tokens that a document may have where they are ready-made.
pub const TOKEN_LIMIT: usize = 4 << 20;
