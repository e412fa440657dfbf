//! The places of a signature.

/// Value of every place in the signature of no features.
pub const EMPTY: u32 = u32::MAX;

/// Most places of a signature.
pub(super) const MOST: usize = 1 << 16;
