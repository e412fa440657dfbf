//! The columns of evidence on removed records.

use super::Column;

/// The columns, with the similarity of the texts at the end.
pub const VERIFIED: &[Column] = &[
    Column::id("id"),
    Column::id("keeper"),
    Column::id("cluster"),
    Column::number("distance"),
    Column::real("jaccard"),
];

/// The columns of a key index.
pub const KEY_EVIDENCE: &[Column] = &[
    Column::id("id"),
    Column::id("keeper"),
    Column::id("cluster"),
    Column::number("shared_keys"),
    Column::real("jaccard"),
];

/// The columns without the similarity.
pub const EVIDENCE: &[Column] = VERIFIED.split_at(4).0;
