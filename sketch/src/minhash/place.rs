//! The places of a signature.

/// What a place of the signature of no features holds.
pub const EMPTY: u32 = u32::MAX;

/// Most places of a signature.
pub(super) const MOST: usize = 1 << 16;
