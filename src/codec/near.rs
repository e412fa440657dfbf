//! Which of some decoded keys lie within a distance of a key: the plain form of what [`super::simd`] does in wide
//! registers.

use crate::fingerprint::distance;

/// Keys that are compared at once: a bit of the result each.
pub(crate) const LOT: usize = 64;

/// Bit `i` is set if key `i` of the first [`LOT`] lies within distance `k` of `key`.
#[inline]
pub(super) fn near(keys: &[u64], key: u64, k: u32) -> u64 {
    keys.iter().take(LOT).zip(0..).fold(0, |found, (&other, bit)| found | u64::from(distance(other, key) <= k) << bit)
}
