//! Estimates the number of distinct values in bounded memory.
//!
//! Values are kept whose hash ends in a number of zeros; when there are too many, one more zero is required. So a value
//! is kept or not regardless of its number of occurrences, and a kept value represents a power of two of values
//! (Gibbons, "Distinct sampling", VLDB 2001).

use std::collections::HashSet;

use fpstore::Fingerprint;

/// Most values that are kept: a standard error of less than 1%.
const KEPT: usize = 1 << 16;

/// Estimates the number of distinct values.
#[derive(Clone, Debug, Default)]
pub(super) struct Distinct {
    zeros: u32,
    /// Hashes of the kept values. Only values wider than 64 bits can share a hash, and in practice they never do.
    kept: HashSet<u64>,
}

impl Distinct {
    pub(super) fn push<F: Fingerprint>(&mut self, fingerprint: F) {
        let hash = (0..F::WORDS).fold(0, |hash, number| mixed(hash ^ fingerprint.word(number)));
        if hash.trailing_zeros() < self.zeros || !self.kept.insert(hash) {
            return;
        }
        while self.kept.len() > KEPT {
            self.zeros += 1;
            let zeros = self.zeros;
            self.kept.retain(|hash| hash.trailing_zeros() >= zeros);
        }
    }

    /// Returns the number, and whether it is exact.
    pub(super) fn number(&self) -> (u64, bool) {
        ((self.kept.len() as u64).checked_shl(self.zeros).unwrap_or(u64::MAX), self.zeros == 0)
    }
}

/// The finaliser of SplitMix64: a bijection in which every bit of the result depends on all bits.
pub(super) fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(values: impl Iterator<Item = u128>) -> (u64, bool) {
        let mut distinct = Distinct::default();
        values.for_each(|value| distinct.push(value));
        distinct.number()
    }

    #[test]
    fn few_are_exact_and_many_are_estimated() {
        assert_eq!(number(std::iter::empty()), (0, true));
        assert_eq!(number((0..120_000).map(|i| (i % 60_000) << 50)), (60_000, true));
        let (estimate, exact) = number((0..2_000_000).map(|i| i % 1_000_000));
        assert!(!exact && (950_000..1_050_000).contains(&estimate), "{estimate}");
    }
}
