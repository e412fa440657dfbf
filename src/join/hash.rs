//! Groups of fingerprints that agree in some bits.
//!
//! A hash of these bits numbers the groups, so the number of groups does not depend on the number of bits. Fingerprints
//! that do not agree may share a group; [`super::node::Node::has`] rejects their pairs.

use super::mask;
use crate::fingerprint::Fingerprint;
use crate::version::Share;
use std::ops::Range;

/// Odd numbers without pattern, one a word: multiply-shift hashing (Dietzfelbinger and others, "A reliable randomized
/// algorithm for the closest-pair problem", 1997) takes the upper bits of the sum of products.
const FACTORS: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

const MOST_BITS: u32 = 32;

/// Numbers groups by some bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Groups<F> {
    mask: F,
    factors: [u64; 4],
    /// 64 less the number of bits of the hash.
    shift: u32,
    /// The bits of the hash that number a group.
    number: usize,
}

impl<F: Fingerprint> Groups<F> {
    /// As many groups as 2 to the power of `bits`, or fewer if they agree in fewer bits.
    pub(crate) fn new(mask: F, bits: u32) -> Self {
        let bits = bits.min(mask::size(mask)).min(MOST_BITS);
        let word = mask.word(0);
        let mut factors = FACTORS;
        let zeros = word.leading_zeros();
        if word != 0 && (word << zeros).leading_ones() == mask::size(mask) {
            // Neighbouring bits are moved to the top, where the product maps them one to one.
            factors = [FACTORS[0] << zeros, 0, 0, 0];
        } else if let Some(factor) =
            joining_runs(word).filter(|_| bits == mask::size(mask) && bits == word.count_ones())
        {
            factors = [factor, 0, 0, 0];
        }
        Self { mask, factors, shift: 64 - bits, number: (1 << bits) - 1 }
    }

    /// The groups that agree in the first `bits` bits of a mask, whose bits are neighbours from `first` on in the first
    /// word. They are numbered in the order of these bits, and each has one value of them.
    pub(super) fn ascending(mask: F, first: u32, bits: u32) -> Self {
        // The product has the mask's bits at its top.
        Self { mask, factors: [1 << first, 0, 0, 0], shift: 64 - bits, number: (1 << bits) - 1 }
    }

    /// The keys of ascending groups, if keys begin with their bits.
    pub(super) fn share(self, range: Range<usize>) -> Share {
        let bound = |group: usize| (group as u64).checked_shl(self.shift).unwrap_or(0);
        Share::new(bound(range.start), (range.end < self.count()).then(|| bound(range.end)))
    }

    /// Groups that these divide, 2 to the power of `bits`, which are at most those of these.
    pub(super) fn coarser(self, bits: u32) -> Self {
        Self { shift: 64 - bits, number: (1 << bits) - 1, ..self }
    }

    /// Divides each group into 2 to the power of `bits` groups, or fewer; `None` if that is one.
    pub(super) fn finer(self, bits: u32) -> Option<Self> {
        let all = 64 - self.shift;
        let bits = bits.min(mask::size(self.mask).min(MOST_BITS).saturating_sub(all));
        (bits > 0).then_some(Self { shift: self.shift - bits, number: (1 << bits) - 1, ..self })
    }

    /// Number of bits of the hash that are used, with those of the groups that these divide.
    pub(super) fn bits(self) -> u32 {
        64 - self.shift
    }

    /// Whether as many bits of the hash are used as the mask has. Then a group has one value of them if they are
    /// neighbours in the first word, or two runs of these far enough apart if all were used from the first, and
    /// otherwise few.
    pub(super) fn is_exact(self) -> bool {
        self.bits() == mask::size(self.mask)
    }

    pub(crate) fn count(&self) -> usize {
        self.number + 1
    }

    #[inline]
    pub(crate) fn of(&self, fingerprint: F) -> usize {
        let product =
            |(number, factor): (usize, &u64)| (fingerprint.word(number) & self.mask.word(number)).wrapping_mul(*factor);
        let words = self.factors.iter().enumerate().take(F::WORDS).map(product);
        let hash = words.fold(0u64, u64::wrapping_add);
        hash.checked_shr(self.shift).unwrap_or(0) as usize & self.number
    }
}

/// A factor whose product with the bits of a mask has these at its top, one to one, if they are two runs of neighbours,
/// and at least as many bits lie between these as in the longer one.
fn joining_runs(mask: u64) -> Option<u64> {
    let zeros = mask.leading_zeros();
    let upper = mask.checked_shl(zeros)?.leading_ones();
    let rest = mask.checked_shl(zeros + upper)?;
    let between = rest.leading_zeros();
    let lower = rest.checked_shl(between)?.leading_ones();
    // The first product has the upper run at the top, the second one the lower run behind it. The other run of the first
    // lies below both, and that of the second beyond the top.
    (rest.count_ones() == lower && between >= upper.max(lower)).then(|| (1 << zeros) + (1 << (zeros + between)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::U256;

    #[test]
    fn groups_are_numbered_by_their_bits_alone_and_evenly() {
        let groups = Groups::new(U256([0, u64::MAX, 0, 0xff]), 10);
        let mut counts = vec![0; groups.count()];
        for i in 0..100_000u64 {
            let fingerprint = U256([i, i << 20, !i, i]);
            assert_eq!(groups.of(fingerprint), groups.of(U256([7, i << 20, 8, i | 0xff00])));
            counts[groups.of(fingerprint)] += 1;
        }
        assert_eq!(counts.len(), 1024);
        assert!(counts.iter().all(|count| (40..200).contains(count)), "{counts:?}");
        assert_eq!(Groups::new(0b101_u64, 10).count(), 4);
        assert_eq!((Groups::new(0u64, 10).count(), Groups::new(0u64, 10).of(9)), (1, 0));
    }

    #[test]
    fn neighbouring_bits_are_told_apart() {
        for first in [0, 7, 51] {
            let mask = (first..first + 13).fold(0u64, |mask, bit| mask.flipped(bit));
            let values = || (0..1u64 << 13).map(|value| value << (51 - first) | !mask);
            for bits in [13, 20] {
                let groups = Groups::new(mask, bits);
                let mut numbers: Vec<usize> = values().map(|value| groups.of(value)).collect();
                numbers.sort_unstable();
                assert!(groups.is_exact() && numbers.into_iter().eq(0..1 << 13));
            }
            assert!(!Groups::new(mask, 12).is_exact());
            let (ascending, fewer) = (Groups::ascending(mask, first, 13), Groups::ascending(mask, first, 5));
            let found = values().map(|value| (ascending.of(value), fewer.of(value)));
            assert!(found.eq((0..1 << 13).map(|group| (group, group >> 8))));
            assert!(ascending.is_exact() && !fewer.is_exact());
        }
    }

    #[test]
    fn two_runs_of_bits_are_told_apart() {
        for (upper, lower, between) in [(6, 6, 26), (1, 1, 1), (7, 6, 7), (3, 13, 13), (13, 3, 20)] {
            for first in [0, 3, 64 - upper - lower - between] {
                let run = |from: u32, length: u32| (from..from + length).fold(0u64, |mask, bit| mask.flipped(bit));
                let (high, low) = (run(first, upper), run(first + upper + between, lower));
                let (mask, bits) = (high | low, upper + lower);
                let place = |value: u64| {
                    (value >> lower) << high.trailing_zeros() | (value % (1 << lower)) << low.trailing_zeros()
                };
                let groups = Groups::new(mask, bits);
                assert!(
                    groups.is_exact() && (0..1 << bits).all(|value| groups.of(place(value) | !mask) == value as usize)
                );
            }
        }
        assert_eq!(
            (joining_runs(0), joining_runs(u64::MAX), joining_runs(0xff0f), joining_runs(0x111)),
            (None, None, None, None)
        );
    }

    #[test]
    fn bits_of_several_words_are_all_used() {
        let mask = U256([0xff00_0003, 0xfc00_0000_0000_0000, 0, 0]);
        let groups = Groups::new(mask, 16);
        let value = |number: u64| U256([(number & 255) << 24 | number >> 14, number >> 8 << 58, 0, 0]);
        let all: std::collections::BTreeSet<usize> = (0..1 << 16).map(|number| groups.of(value(number))).collect();
        // A hash: 63% in the mean.
        assert!(all.len() > 1 << 15, "{}", all.len());
    }

    #[test]
    fn the_keys_of_ascending_groups_begin_with_their_bits() {
        let groups = Groups::ascending(0xfff_u64 << 20, 32, 12);
        let group_of_key = |key: u64| groups.of(key.rotate_right(32));
        for (range, inside, outside) in [(0..1, [0, (1 << 52) - 1], 1 << 52), (4095..4096, [4095 << 52, u64::MAX], 0)] {
            let share = groups.share(range.clone());
            assert!(inside.iter().all(|&key| share.has(key) && range.contains(&group_of_key(key))));
            assert!(!share.has(outside) && !range.contains(&group_of_key(outside)));
        }
        let all = Groups::ascending(0u64, 0, 0);
        assert!(all.count() == 1 && all.share(0..1) == Share::ALL && all.of(u64::MAX) == 0);
    }
}
