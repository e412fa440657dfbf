//! Which of some keys or rows lie within a distance of another: the plain forms of what [`super::simd`] does with the
//! processor's own instructions.

use crate::fingerprint::{Fingerprint, distance};

/// Keys that are compared at once: a bit of the result each.
pub(crate) const LOT: usize = 64;

/// Bit `i` is set if key `i` of the first [`LOT`] lies within distance `k` of `key`.
#[inline(always)]
pub(super) fn near(keys: &[u64], key: u64, k: u32) -> u64 {
    keys.iter().take(LOT).zip(0..).fold(0, |found, (&other, bit)| found | u64::from(distance(other, key) <= k) << bit)
}

/// The same for what is left of keys without their `row` lowest bits.
#[inline(always)]
pub(super) fn near_leads(keys: &[u64], lead: u64, row: u32, radius: u32) -> u64 {
    let near = |key: u64| key.checked_shr(row).unwrap_or(0) ^ lead;
    keys.iter()
        .take(LOT)
        .zip(0..)
        .fold(0, |found, (&key, bit)| found | u64::from(near(key).count_ones() <= radius) << bit)
}

/// The same for fingerprints that are written as little-endian bytes one after another.
#[inline(always)]
pub(super) fn near_rows<F: Fingerprint>(rows: &[u8], query: F, k: u32) -> u64 {
    rows.chunks_exact(F::BYTES).take(LOT).zip(0..).fold(0, |found, (row, bit)| {
        let (words, _) = row.as_chunks::<8>();
        // The last word of the bytes is the first one of the number.
        let differing = words
            .iter()
            .rev()
            .enumerate()
            .fold(0, |sum, (number, &word)| sum + (u64::from_le_bytes(word) ^ query.word(number)).count_ones());
        found | u64::from(differing <= k) << bit
    })
}
