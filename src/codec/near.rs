//! Which keys or rows lie within a distance of another one: the plain forms of [`super::simd`].

use crate::fingerprint::{Fingerprint, distance};

/// Keys compared at once: one bit of the result each.
pub(crate) const CHUNK: usize = 64;

/// Bit `i` is set if key `i` of the first [`CHUNK`] lies within distance `k` of `key`.
#[inline(always)]
pub(super) fn near(keys: &[u64], key: u64, k: u32) -> u64 {
    keys.iter().take(CHUNK).zip(0..).fold(0, |found, (&other, bit)| found | u64::from(distance(other, key) <= k) << bit)
}

/// The same for keys without their `row` lowest bits.
#[inline(always)]
pub(super) fn near_leads(keys: &[u64], lead: u64, row: u32, radius: u32) -> u64 {
    let near = |key: u64| key.checked_shr(row).unwrap_or(0) ^ lead;
    keys.iter()
        .take(CHUNK)
        .zip(0..)
        .fold(0, |found, (&key, bit)| found | u64::from(near(key).count_ones() <= radius) << bit)
}

/// The same for fingerprints as consecutive little-endian bytes.
#[inline(always)]
pub(super) fn near_rows<F: Fingerprint>(rows: &[u8], query: F, k: u32) -> u64 {
    rows.chunks_exact(F::BYTES).take(CHUNK).zip(0..).fold(0, |found, (row, bit)| {
        let (words, _) = row.as_chunks::<8>();
        // The last word of the bytes is the most significant one.
        let differing = words
            .iter()
            .rev()
            .enumerate()
            .fold(0, |sum, (number, &word)| sum + (u64::from_le_bytes(word) ^ query.word(number)).count_ones());
        found | u64::from(differing <= k) << bit
    })
}

/// Distance between the neighbours that [`near_pairs`] compares.
pub(crate) const REACH: usize = 3;

/// Appends the pairs within distance `k` of each of the first `count` fingerprints and the [`REACH`] next ones.
#[inline(always)]
pub(super) fn near_pairs<F: Fingerprint>(all: &[F], count: usize, k: u32, found: &mut Vec<(F, F)>) {
    for step in 1..=REACH {
        let others = all.get(step..).unwrap_or_default();
        let count = count.min(others.len());
        let (ones, others) = (all.get(..count).unwrap_or_default(), others.get(..count).unwrap_or_default());
        let (chunks, rest) = ones.as_chunks::<8>();
        let (other_chunks, other_rest) = others.as_chunks::<8>();
        for (chunk, other_chunk) in chunks.iter().zip(other_chunks) {
            let near = chunk.iter().zip(other_chunk).map(|(one, other)| u32::from(one.distance(*other) <= k));
            if near.sum::<u32>() > 0 {
                push_near(chunk, other_chunk, k, found);
            }
        }
        push_near(rest, other_rest, k, found);
    }
}

/// Appends the pairs within distance `k` of a fingerprint of `ones` and one of `others`.
#[inline(always)]
pub(super) fn near_across<F: Fingerprint>(ones: &[F], others: &[F], k: u32, found: &mut Vec<(F, F)>) {
    let (chunks, rest) = others.as_chunks::<8>();
    for &one in ones {
        for chunk in chunks {
            let near = chunk.iter().map(|other| u32::from(one.distance(*other) <= k));
            if near.sum::<u32>() > 0 {
                push_near(&[one; 8], chunk, k, found);
            }
        }
        for &other in rest {
            if one.distance(other) <= k {
                found.push((one, other));
            }
        }
    }
}

/// Appends the pairs within distance `k` of two fingerprints at the same place.
#[inline(always)]
fn push_near<F: Fingerprint>(ones: &[F], others: &[F], k: u32, found: &mut Vec<(F, F)>) {
    for (&one, &other) in ones.iter().zip(others) {
        if one.distance(other) <= k {
            found.push((one, other));
        }
    }
}

/// Whether each key is greater than the one before.
#[inline(always)]
pub(super) fn ascending(keys: &[u64]) -> bool {
    let following = keys.get(1..).unwrap_or_default();
    keys.iter().zip(following).fold(0, |broken, (key, next)| broken | u64::from(key >= next)) == 0
}
