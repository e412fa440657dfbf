use super::id::Id;

/// A fingerprint and the document that has it.
///
/// A store is a *set* of records: one fingerprint may have many ids, one id may have several fingerprints, and the
/// store keeps equal records once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record<F = u64> {
    /// The fingerprint.
    pub fingerprint: F,
    /// The document.
    pub id: Id,
}

impl<F> Record<F> {
    /// A record with a number or a text as id.
    pub fn new(fingerprint: F, id: impl Into<Id>) -> Self {
        Self { fingerprint, id: id.into() }
    }
}

/// A stored record that answers a query.
///
/// Ordered by distance, then fingerprint, then id, like answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match<F = u64> {
    /// Number of bits in which the fingerprint differs from the query's.
    pub distance: u32,
    /// The stored fingerprint.
    pub fingerprint: F,
    /// The document.
    pub id: Id,
}

/// A record, or its tombstone, in a run or a memtable. Without ids: by how much the number of records of a fingerprint
/// grows or shrinks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry<F = u64> {
    pub(crate) record: Record<F>,
    pub(crate) is_tombstone: bool,
}
