//! Records, and what queries find of them.

use super::id::Id;

/// A fingerprint and the document that has it.
///
/// A store is a *set* of records: one fingerprint may have many ids, one id may stand on several fingerprints, and the
/// same pair is kept once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record<F = u64> {
    /// The fingerprint.
    pub fingerprint: F,
    /// The document.
    pub id: Id,
}

impl<F> Record<F> {
    /// A record of a document with a number or a text.
    pub fn new(fingerprint: F, id: impl Into<Id>) -> Self {
        Self { fingerprint, id: id.into() }
    }
}

/// A stored record that answers a query.
///
/// Ordered as answers are: by distance, then fingerprint, then id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match<F = u64> {
    /// Number of bits in which the fingerprint differs from the query's.
    pub distance: u32,
    /// The stored fingerprint.
    pub fingerprint: F,
    /// The document.
    pub id: Id,
}
