//! Fingerprints and records: the numbers that a store keeps.
//!
//! A fingerprint is a 64-bit number; bit 63 is the first, most significant one. Two fingerprints are near when few of
//! their bits differ (Hamming distance).

/// Width of a fingerprint in bits.
pub const WIDTH: u32 = 64;

/// A fingerprint and the document that has it.
///
/// A store is a *set* of records: one fingerprint may have many ids, one id may stand on several fingerprints, and the
/// same pair is kept once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    /// The 64-bit fingerprint.
    pub fingerprint: u64,
    /// The document's number.
    pub id: u64,
}

/// A stored record that answers a query.
///
/// Ordered as answers are: by distance, then fingerprint, then id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match {
    /// Number of bits in which the fingerprint differs from the query's.
    pub distance: u32,
    /// The stored fingerprint.
    pub fingerprint: u64,
    /// The document's number.
    pub id: u64,
}

/// Number of bits in which two fingerprints differ, 0 to 64.
#[inline]
#[must_use]
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// The `length` leading bits of a word set, `length` = 0 to 64.
#[inline]
pub(crate) fn leading_ones(length: u32) -> u64 {
    u64::MAX.checked_shl(WIDTH - length.min(WIDTH)).unwrap_or(0)
}
