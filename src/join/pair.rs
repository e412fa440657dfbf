//! Pairs of near fingerprints and records.

use crate::fingerprint::{Fingerprint, Id, Record};

/// Two fingerprints near each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair<F = u64> {
    /// The smaller one; between two stores, the first one's.
    pub a: F,
    /// The other one.
    pub b: F,
}

impl<F: Fingerprint> Pair<F> {
    /// Number of bits in which the fingerprints differ.
    #[must_use]
    pub fn distance(&self) -> u32 {
        self.a.distance(self.b)
    }
}

/// Two records near each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordPair<F = u64> {
    /// The one with the smaller fingerprint, or the smaller id of equal fingerprints; between two stores, the first
    /// one's.
    pub a: Record<F>,
    /// The other one.
    pub b: Record<F>,
}

impl<F: Fingerprint> RecordPair<F> {
    /// Number of bits in which the fingerprints differ.
    #[must_use]
    pub fn distance(&self) -> u32 {
        self.a.fingerprint.distance(self.b.fingerprint)
    }
}

/// Pairs of records with the same two fingerprints: each of some ids with each of some others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPairs<'a, F = u64> {
    /// The fingerprints.
    pub pair: Pair<F>,
    /// Ids of records with the first fingerprint.
    pub a: &'a [Id],
    /// Ids of records with the second fingerprint.
    pub b: &'a [Id],
}
