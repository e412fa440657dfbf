//! Finds in one pass over unsorted keys which of some prefixes exist.

use super::super::Permutation;
use super::super::filter_shape::hash;
use crate::fingerprint::leading_ones;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bits of the bitmap a wanted prefix: only some four in a thousand other keys pass it.
const BITS: usize = 32;
/// Fingerprints that a thread takes at a time.
const TOGETHER: usize = 1 << 16;
/// Number of keys above which distinct prefixes are counted by a sample.
const COUNTED: usize = 1 << 16;

/// Prefixes to find, each as its least key.
pub(super) struct Wanted {
    sorted: Vec<u64>,
    bitmap: Vec<u64>,
}

/// The prefixes, and which of them exist.
pub(super) struct Found {
    sorted: Vec<u64>,
    exists: Vec<AtomicBool>,
    distinct_prefixes: f64,
}

impl Wanted {
    pub(super) fn new(prefixes: impl Iterator<Item = u64>) -> Self {
        let mut sorted: Vec<u64> = prefixes.collect();
        sorted.sort_unstable();
        sorted.dedup();
        let words = (sorted.len() * BITS).next_power_of_two().div_ceil(64).next_power_of_two();
        let mut wanted = Self { bitmap: vec![0; words], sorted };
        for &prefix in &wanted.sorted {
            let (word, bits) = place(hash(prefix), words);
            wanted.bitmap.iter_mut().skip(word).take(1).for_each(|word| *word |= bits);
        }
        wanted
    }

    /// Finds the prefixes, of this length, among the keys of all fingerprints.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn find(self, fingerprints: &[u64], permutation: &Permutation, prefix: u32) -> Found {
        let Self { sorted, bitmap } = self;
        let exists: Vec<AtomicBool> = sorted.iter().map(|_| AtomicBool::new(false)).collect();
        let bits = leading_ones(prefix);
        // Counts only prefixes whose hash ends with this many zeros.
        let zeros = (fingerprints.len() / COUNTED).max(1).ilog2();
        let counted = fingerprints.par_chunks(TOGETHER).flat_map_iter(|values| {
            let mut counted = Vec::new();
            for &value in values {
                let first = permutation.apply(value) & bits;
                let hash = hash(first);
                if hash.trailing_zeros() >= zeros {
                    counted.push(first);
                }
                let (word, bits) = place(hash, bitmap.len());
                if bitmap.get(word).is_some_and(|word| word & bits == bits)
                    && let Ok(found) = sorted.binary_search(&first)
                    && let Some(exists) = exists.get(found)
                {
                    exists.store(true, Ordering::Relaxed);
                }
            }
            counted
        });
        let mut counted: Vec<u64> = counted.collect();
        counted.sort_unstable();
        counted.dedup();
        let distinct_prefixes = counted.len() as f64 * f64::from(1u32 << zeros);
        Found { sorted, exists, distinct_prefixes }
    }
}

impl Found {
    /// Whether some key has this wanted prefix.
    pub(super) fn has(&self, first: u64) -> bool {
        let found = self.sorted.binary_search(&first).ok().and_then(|found| self.exists.get(found));
        found.is_some_and(|exists| exists.load(Ordering::Relaxed))
    }

    pub(super) fn distinct_prefixes(&self) -> f64 {
        self.distinct_prefixes
    }
}

fn place(hash: u64, words: usize) -> (usize, u64) {
    ((hash >> 32) as usize & (words - 1), 1 << (hash >> 26 & 63) | 1 << (hash >> 20 & 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Design;

    #[test]
    fn finds_what_is_there_and_counts_it() {
        let values: Vec<u64> = (1..=300_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for layout in (Design::Choose { chosen: 2, parts: 5 }).tables(64).unwrap() {
            for prefix in [3, 12, 26] {
                let bits = leading_ones(prefix);
                let mut all: Vec<u64> = values.iter().map(|&value| layout.permutation.apply(value) & bits).collect();
                let others = (1..2000u64).map(|i| i.wrapping_mul(0xd6e8_feb8_6659_fd93) & bits);
                let wanted: Vec<u64> = all.iter().copied().step_by(997).chain(others).collect();
                let found = Wanted::new(wanted.iter().copied()).find(&values, &layout.permutation, prefix);
                all.sort_unstable();
                all.dedup();
                for first in wanted {
                    assert_eq!(found.has(first), all.binary_search(&first).is_ok(), "{prefix} {first:x}");
                }
                let ratio = found.distinct_prefixes() / all.len() as f64;
                assert!(prefix == 3 || (0.9..1.1).contains(&ratio), "{prefix}: {ratio}");
            }
        }
    }
}
