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
        // Several chunks are compared before a branch.
        for (chunks, other_chunks) in chunks.chunks(4).zip(other_chunks.chunks(4)) {
            let mut lanes = Lanes::new(k);
            chunks.iter().zip(other_chunks).for_each(|(chunk, other_chunk)| lanes.compare(chunk, other_chunk));
            if lanes.any_near() {
                push_near(chunks.as_flattened(), other_chunks.as_flattened(), k, found);
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
            let mut lanes = Lanes::new(k);
            lanes.compare(&[one; 8], chunk);
            if lanes.any_near() {
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

/// Whether two of the first `count` fingerprints may be near, or some that follow, or too few follow to tell. Compares
/// each eight of them with the eight that begin at any later place: no branch depends on what it finds.
#[inline(always)]
pub(super) fn may_have_near<F: Fingerprint>(all: &[F], count: usize, k: u32) -> bool {
    let mut lanes = Lanes::new(k);
    for at in (0..count).step_by(8) {
        let eight = |at| all.get(at..).and_then(<[F]>::first_chunk::<8>);
        let Some(ones) = eight(at) else { return true };
        for later in at + 1..count {
            let Some(others) = eight(later) else { return true };
            lanes.compare(ones, others);
        }
    }
    lanes.any_near()
}

/// Appends the pairs within distance `k` among the first `count` fingerprints.
#[inline(always)]
pub(super) fn push_within<F: Fingerprint>(all: &[F], count: usize, k: u32, found: &mut Vec<(F, F)>) {
    let mut rest = all.get(..count).unwrap_or(all);
    while let Some((&one, others)) = rest.split_first() {
        near_across(&[one], others, k, found);
        rest = others;
    }
}

/// Gathers whether fingerprints at the same place of two chunks are near, in a lane of 64 bits for each place: the
/// compiler keeps lanes in vectors, and packs nothing.
struct Lanes {
    /// The first bit of a lane is set if a distance was less than `beyond`.
    near: [u64; 8],
    beyond: u64,
}

impl Lanes {
    #[inline(always)]
    fn new(k: u32) -> Self {
        Self { near: [0; 8], beyond: u64::from(k) + 1 }
    }

    #[inline(always)]
    fn compare<F: Fingerprint>(&mut self, ones: &[F; 8], others: &[F; 8]) {
        for (lane, (one, other)) in self.near.iter_mut().zip(ones.iter().zip(others)) {
            *lane |= u64::from(one.distance(*other)).wrapping_sub(self.beyond);
        }
    }

    #[inline(always)]
    fn any_near(&self) -> bool {
        self.near.iter().fold(0, |any, lane| any | lane) >> 63 == 1
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_pairs_of_a_group_are_found(
            base: u64, flips in prop::collection::vec((0u32..64, 0u32..64), 0..300), count in 0usize..300, k in 0u32..6,
        ) {
            let all: Vec<u64> = flips.iter().map(|&(one, other)| base.flipped(one).flipped(other)).collect();
            let count = count.min(all.len());
            let found = |all: &[u64]| {
                let mut found = Vec::new();
                if may_have_near(all, count, k) {
                    push_within(all, count, k, &mut found);
                }
                found
            };
            // Whole chunks, and those at the end of all.
            let following = [&*all, &[!base; 8]].concat();
            let near = |a: usize| (a + 1..count).map(move |b| (a, b));
            let pairs = (0..count).flat_map(near).map(|(a, b)| (all[a], all[b]));
            let expected: Vec<_> = pairs.filter(|(a, b)| a.distance(*b) <= k).collect();
            prop_assert_eq!(found(&following), &*expected);
            prop_assert_eq!(found(&all), expected);
        }
    }
}
