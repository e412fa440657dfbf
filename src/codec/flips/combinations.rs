//! Combinations of bit numbers and their ranks.
//!
//! Sets of k bit numbers are ordered by their greatest element, then the next, and so on: the rank of `c1 < c2 < ... <
//! ck` is `C(c1, 1) + C(c2, 2) + ... + C(ck, k)` (the combinatorial number system). So for every t the ranks of all
//! sets below bit number t are 0 to `C(t, k) - 1`.

use super::symbols::MAX_FLIPS;
use std::sync::LazyLock;

/// `C(n, k)` for n below 64 and k below [`MAX_FLIPS`].
#[inline]
pub(super) fn binomial(n: u32, k: u32) -> u32 {
    BINOMIALS.get(k as usize).and_then(|row| row.get(n as usize)).copied().unwrap_or(0)
}

static BINOMIALS: LazyLock<[[u32; 64]; MAX_FLIPS as usize]> = LazyLock::new(|| {
    let mut rows = [[0u32; 64]; MAX_FLIPS as usize];
    for (row, k) in rows.iter_mut().zip(0u64..) {
        for (slot, n) in row.iter_mut().zip(0u64..) {
            let value = (0..k).fold(1, |product, i| product * n.saturating_sub(i) / (i + 1));
            *slot = u32::try_from(value).unwrap_or(u32::MAX);
        }
    }
    rows
});

/// Width in bits of a rank of `k` bit numbers below `top`.
#[inline]
pub(super) fn rank_width(top: u32, k: u32) -> u32 {
    32 - binomial(top, k).saturating_sub(1).leading_zeros()
}

/// The rank of the bits that are set in `mask`, at most seven.
pub(super) fn rank(mask: u64) -> u64 {
    let (mut rest, mut rank, mut k) = (mask, 0, 1);
    while rest != 0 {
        rank += u64::from(binomial(rest.trailing_zeros(), k));
        rest &= rest - 1;
        k += 1;
    }
    rank
}

/// Where the masks of zero, one, two and three bits begin in [`MASKS`]. Each part has space for all ranks of 0, 6, 11
/// and 16 bits; ranks of no set lead to a mask of all bits.
pub(super) const FIRST: [u32; 4] = [0, 1, 1 + (1 << 6), 1 + (1 << 6) + (1 << 11)];
const MASK_COUNT: usize = FIRST[3] as usize + (1 << 16);

/// The masks of all sets of up to three bits, by number of bits and rank.
pub(in crate::codec) static MASKS: LazyLock<Box<[u64]>> = LazyLock::new(|| {
    let mut masks = vec![0];
    masks.extend((0..64).map(|a| 1u64 << a));
    masks.extend((0..64).flat_map(|a| (0..a).map(move |b| 1u64 << a | 1 << b)));
    masks.resize(FIRST[3] as usize, u64::MAX);
    masks.extend((0..64).flat_map(|a| (0..a).flat_map(move |b| (0..b).map(move |c| 1u64 << a | 1 << b | 1 << c))));
    masks.resize(MASK_COUNT, u64::MAX);
    masks.into_boxed_slice()
});

/// The set of `k` bits with this rank. An impossible rank gives bits at or above the topmost one.
#[inline]
pub(in crate::codec) fn unrank(rank: u32, k: u32) -> u64 {
    let (mut rank, mut mask) = (rank, 0);
    for k in (4..=k).rev() {
        let row = BINOMIALS.get(k as usize).unwrap_or(&[0; 64]);
        // The greatest bit number whose sets begin at or below the rank. Counting avoids an unpredictable branch, and
        // the compiler vectorizes it.
        let bit = row.iter().map(|&first| u32::from(first <= rank)).sum::<u32>().saturating_sub(1);
        rank -= row.get(bit as usize).copied().unwrap_or(0);
        mask |= 1u64.checked_shl(bit).unwrap_or(0);
    }
    let first = FIRST.get(k.min(3) as usize).copied().unwrap_or(0);
    mask | MASKS.get((first as usize).saturating_add(rank as usize)).copied().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_lead_back(bits in prop::collection::btree_set(0u32..63, 0..8)) {
            let mask = bits.iter().fold(0u64, |mask, &bit| mask | 1 << bit);
            let rank = u32::try_from(rank(mask)).unwrap();
            prop_assert_eq!(unrank(rank, bits.len() as u32), mask);
            prop_assert!(rank < binomial(bits.last().map_or(0, |top| top + 1), bits.len() as u32).max(1));
        }

        #[test]
        fn a_rank_too_high_shows_above(top in 7u32..64, k in 1u32..8, beyond: u32) {
            let (first, limit) = (binomial(top, k), 1 << rank_width(top, k));
            if first < limit {
                prop_assert!(unrank(first + beyond % (limit - first), k) >> top != 0);
            }
        }
    }
}
