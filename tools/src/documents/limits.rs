//! Limits for documents.

/// Longest document in bytes: a line of NDJSON, a row of CSV, a text in Parquet, or a decompressed file.
pub const DOCUMENT_LIMIT: usize = 64 << 20;

/// Most ready-made tokens of a document.
pub const TOKEN_LIMIT: usize = 4 << 20;

/// Decoded bytes of a batch of Parquet, for documents of average length.
#[cfg(feature = "parquet")]
pub(super) const BATCH_BYTES: u64 = 8 << 20;

/// Most rows of such a batch.
#[cfg(feature = "parquet")]
pub(super) const BATCH: usize = 1024;
