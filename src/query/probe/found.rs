//! A fingerprint that a table has found.

/// A stored fingerprint within the distance that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found<F> {
    /// The stored fingerprint.
    pub(crate) fingerprint: F,
    /// Its rank in the first table, where the table that has found it tells.
    pub(crate) rank: Option<u64>,
}
