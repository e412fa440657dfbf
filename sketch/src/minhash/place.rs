//! The places of a signature.

/// Value of every place in the signature of no features: the largest value of a place of 32 bits.
pub const EMPTY: u64 = u32::MAX as u64;
