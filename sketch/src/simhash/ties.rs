//! How `native` decides bits with as many votes for as against.
//!
//! The candidates are the four features with the smallest hashes. For each tied bit, each candidate has another hash,
//! made of its own hash and the number of the bit; the smallest of these gives the bit. (The votes of the candidates
//! would be of no use: small hashes begin with zeros.) So ties have no bias, and equal sets of features have equal
//! fingerprints. Two sets choose the same feature about as often as their Jaccard similarity says, so similar documents
//! stay near. One candidate for all bits would do as well on average, but texts of two or three features with one in
//! common would often be near.

use crate::hash;

/// Number of candidates. A longer text has hardly any ties.
const CANDIDATES: usize = 4;
/// Marks a missing candidate.
const NONE: u64 = u64::MAX;

/// The features that decide ties.
#[derive(Clone, Debug)]
pub(super) struct Ties {
    /// Sorted.
    smallest: [u64; CANDIDATES],
}

impl Default for Ties {
    fn default() -> Self {
        Self { smallest: [NONE; CANDIDATES] }
    }
}

impl Ties {
    /// Adds a feature. Adding it again changes nothing.
    #[inline]
    pub(super) fn add(&mut self, hash: u64) {
        let [.., largest] = self.smallest;
        // In a longer text this is nearly always the case.
        if hash < largest && !self.smallest.contains(&hash) {
            let mut moved = hash;
            for place in &mut self.smallest {
                if moved < *place {
                    std::mem::swap(place, &mut moved);
                }
            }
        }
    }

    /// Returns the values of the tied bits.
    pub(super) fn decide(&self, tied: u128) -> u128 {
        let (mut rest, mut bits) = (tied, 0);
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let key = hash::second(bit.into());
            let candidates = self.smallest.iter().filter(|hash| **hash != NONE);
            let least = candidates.map(|hash| hash::with(*hash, key)).min();
            bits |= u128::from(least.unwrap_or_default() & 1) << bit;
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The smallest features are kept, each once, whatever their order.
        #[test]
        fn keeps_the_smallest(hashes in prop::collection::vec(0_u64..40, 0..30)) {
            let mut ties = Ties::default();
            hashes.iter().for_each(|hash| ties.add(*hash));
            let mut expected = hashes;
            expected.sort_unstable();
            expected.dedup();
            expected.resize(expected.len().max(CANDIDATES), NONE);
            prop_assert_eq!(ties.smallest.as_slice(), &expected[..CANDIDATES]);
        }
    }

    #[test]
    fn tied_bits_alone_and_by_both_features() {
        let of = |hashes: &[u64]| {
            let mut ties = Ties::default();
            hashes.iter().for_each(|hash| ties.add(*hash));
            ties
        };
        assert_eq!(of(&[]).decide(u128::MAX), 0);
        assert_eq!(of(&[5]).decide(0), 0);
        // If a text has two features, each of them decides about half of the ties, and the other bits are equal by
        // chance.
        let (mut first, mut second) = (0, 0);
        for number in 0..100 {
            let [a, b] = ["a", "b"].map(|letter| hash::of_text(&format!("{letter}{number}")));
            let both = of(&[a, b]).decide(u128::MAX);
            assert_eq!(of(&[b, a, b]).decide(0b1010), both & 0b1010);
            first += (both ^ of(&[a]).decide(u128::MAX)).count_ones();
            second += (both ^ of(&[b]).decide(u128::MAX)).count_ones();
        }
        // A quarter of 12,800.
        assert!((3000..3400).contains(&first) && (3000..3400).contains(&second), "{first}, {second}");
    }
}
