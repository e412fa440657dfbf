//! The masks of a few flipped leading bits, and their number.

use crate::bits::low_mask;

/// Every mask of at most `radius` ones among the `prefix` leading bits. It begins with no ones, then the last leading
/// bit, so that neighbours in the list lead to neighbouring places.
pub(crate) fn masks(prefix: u32, radius: u32) -> Vec<u64> {
    let shift = 64 - prefix;
    let mut masks = vec![0];
    for ones in 1..=radius.min(prefix) {
        let mut mask = low_mask(ones);
        let last = mask << (prefix - ones);
        loop {
            masks.push(mask << shift);
            if mask == last {
                break;
            }
            // The next greater number with as many ones (Gosper, HAKMEM item 175).
            let lowest = mask & mask.wrapping_neg();
            let ripple = mask + lowest;
            mask = ripple | (((mask ^ ripple) >> 2) / lowest);
        }
    }
    masks
}

/// Number of the [`masks`] of so many leading bits, which are those of the prefixes within a radius.
pub(crate) fn number_of_masks(prefix: u32, radius: u32) -> f64 {
    (0..=radius.min(prefix)).map(|flips| binomial(prefix, flips)).sum()
}

pub(super) fn binomial(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::leading_ones;

    #[test]
    fn every_mask_once() {
        for (prefix, radius, count) in
            [(0, 3, 1), (1, 1, 2), (32, 1, 33), (20, 3, 1 + 20 + 190 + 1140), (64, 2, 2081), (5, 9, 32), (64, 1, 65)]
        {
            let masks = masks(prefix, radius);
            assert_eq!((masks.len(), masks[0]), (count, 0), "{prefix} {radius}");
            assert!((number_of_masks(prefix, radius) - count as f64).abs() < 1e-6);
            assert!(masks.iter().all(|mask| mask.count_ones() <= radius && mask & !leading_ones(prefix) == 0));
            assert_eq!(masks.iter().collect::<std::collections::BTreeSet<_>>().len(), count);
        }
    }
}
