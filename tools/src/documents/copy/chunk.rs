//! Documents on their way to the output.

use crate::documents::parquet::Piece;

/// Some documents.
pub(super) enum Chunk {
    /// Whole records, one after another.
    Text(Vec<u8>),
    /// Rows of Parquet.
    Rows(Piece),
}
