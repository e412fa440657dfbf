//! Groups of fingerprints that agree in some bits.
//!
//! A hash of these bits numbers the groups, so the number of groups does not depend on the number of bits. Fingerprints
//! that do not agree may share a group; [`super::node::Node::has`] rejects their pairs.

use super::mask;
use crate::fingerprint::Fingerprint;

/// Odd numbers without pattern, one a word: multiply-shift hashing (Dietzfelbinger and others, "A reliable randomized
/// algorithm for the closest-pair problem", 1997) takes the upper bits of the sum of products.
const FACTORS: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

const MOST_BITS: u32 = 32;

/// Numbers groups by some bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups<F> {
    mask: F,
    /// 64 less the number of bits of the hash.
    shift: u32,
    /// The bits of the hash that number a group.
    number: usize,
}

impl<F: Fingerprint> Groups<F> {
    /// As many groups as 2 to the power of `bits`, or fewer if they agree in fewer bits.
    pub(crate) fn new(mask: F, bits: u32) -> Self {
        let bits = bits.min(mask::size(mask)).min(MOST_BITS);
        Self { mask, shift: 64 - bits, number: (1 << bits) - 1 }
    }

    /// Divides each group into 2 to the power of `bits` groups, or fewer; `None` if that is one.
    pub(super) fn finer(self, bits: u32) -> Option<Self> {
        let all = 64 - self.shift;
        let bits = bits.min(mask::size(self.mask).min(MOST_BITS).saturating_sub(all));
        (bits > 0).then_some(Self { shift: self.shift - bits, number: (1 << bits) - 1, ..self })
    }

    pub(crate) fn count(&self) -> usize {
        self.number + 1
    }

    #[inline]
    pub(crate) fn of(&self, fingerprint: F) -> usize {
        let product =
            |(number, factor): (usize, &u64)| (fingerprint.word(number) & self.mask.word(number)).wrapping_mul(*factor);
        let words = FACTORS.iter().enumerate().take(F::WORDS).map(product);
        let hash = words.fold(0u64, u64::wrapping_add);
        hash.checked_shr(self.shift).unwrap_or(0) as usize & self.number
    }
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
}
