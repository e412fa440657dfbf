//! The shape of a filter of sorted keys in lines of memory.

use super::bloom::BloomShape;
use crate::plan::masks::{binomial, masks, number_of_masks};

/// Bits of each key behind those that its line tells.
pub(crate) const BEHIND: u32 = 16;
/// Entries of a line, beside their number.
pub(crate) const MOST_ENTRIES: usize = 31;
/// Keys of a line on average, if they are spread evenly. Then one key in 120 finds no place; with 22 it would be one in
/// 320, with 26 one in 55.
const LINE_KEYS: u64 = 24;
/// The most entries without a place, for each line on average.
pub(crate) const MOST_MISSING: u64 = 2;
/// Least share of the prefixes of a Bloom filter that exist. Where fewer do, it is as fast, in a third of the memory.
const LEAST_EXISTING: f64 = 1.0 / 16.0;
/// Least keys of a line on average. Each line has the same number of prefixes of the flipped bits; where that is small,
/// rounding it down leaves a line with fewer keys.
const LEAST_LINE_KEYS: f64 = 16.0;
/// Bits behind those that a line tells, by which keys are divided among lines too.
const DIVIDED: u32 = 7;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LineShape {
    pub(crate) lines: u64,
    /// Number of leading bits that name a line, and that queries flip.
    pub(crate) flipped: u32,
    /// Number of leading bits in which a near key differs in no more than the table's radius.
    pub(crate) leading: u32,
    /// Keys of a line on average.
    mean: f64,
    /// The share of keys that find no place.
    pub(crate) unsure: f64,
    /// The share of lines with more keys than places.
    full: f64,
    /// The filter for less memory, or for keys that are spread too unevenly.
    pub(super) smaller: BloomShape,
}

impl LineShape {
    /// `None` if keys cannot be searched by as many leading bits as lines tell, or a Bloom filter does as well.
    #[expect(clippy::cast_precision_loss, reason = "estimates")]
    pub(super) fn new(keys: u64, leading: u32, smaller: BloomShape) -> Option<Self> {
        let existing = keys as f64 / 2f64.powf(smaller.prefix.into());
        let most = keys.div_ceil(LINE_KEYS).max(1);
        let flipped = leading.min(most.ilog2() + DIVIDED);
        // Lines with as many prefixes of the flipped bits each, if these are few.
        let prefixes = 1u64.checked_shl(flipped).unwrap_or(u64::MAX);
        let lines = prefixes.div_ceil((prefixes / most).max(1));
        let mean = keys as f64 / lines as f64;
        let (unsure, full) = crowded(mean);
        (most <= prefixes && mean >= LEAST_LINE_KEYS && existing >= LEAST_EXISTING).then_some(Self {
            lines,
            flipped,
            leading,
            mean,
            unsure,
            full,
            smaller,
        })
    }

    /// Number of leading bits that a line and the [`BEHIND`] next bits of a key determine: keys of one line are less than
    /// 2^(64 - told) apart, so two that differ in these bits differ in the next ones too.
    #[inline]
    fn told(self) -> u32 {
        self.lines.ilog2()
    }

    /// Number of leading bits of a key that the filter tells.
    #[inline]
    pub(crate) fn prefix(self) -> u32 {
        (self.told() + BEHIND).min(u64::BITS)
    }

    pub(super) fn bytes(self) -> u64 {
        self.lines.saturating_mul(64)
    }

    /// The line of keys with these [`LineShape::flipped`] leading bits, followed by zeros.
    #[inline]
    pub(crate) fn line(self, first: u64) -> u64 {
        ((u128::from(first) * u128::from(self.lines)) >> 64) as u64
    }

    pub(super) fn wanted(self, radius: u32, distance: u32) -> f64 {
        let leading = self.leading.min(self.prefix());
        let beyond = |flips: u32| number_of_masks(self.prefix() - leading, distance.saturating_sub(flips));
        (0..=radius.min(leading).min(distance)).map(|flips| binomial(leading, flips) * beyond(flips)).sum()
    }

    pub(super) fn wanted_masks(self, radius: u32, distance: u32) -> Vec<u64> {
        let leading = self.leading.min(self.prefix());
        let beyond = masks(self.prefix() - leading, distance);
        let with = |first: u64| {
            let within = move |&mask: &u64| first.count_ones() + mask.count_ones() <= distance;
            let behind = beyond.iter().map(move |mask| mask.checked_shr(leading).unwrap_or(0));
            behind.filter(within).map(move |mask| first | mask)
        };
        masks(leading, radius.min(distance)).into_iter().flat_map(with).collect()
    }

    /// The chance that a look-up without a near key passes: keys without a place are behind the last entry, and the
    /// prefix that this one has passes too.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn false_positives(self) -> f64 {
        let prefixes = 2f64.powf(self.flipped.into()) / self.lines as f64;
        if prefixes < 2.0 { self.full } else { self.unsure + self.full / (2.0 * prefixes) }
    }

    /// The shape for keys of which this share finds no place; `None` if that is too many.
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    pub(super) fn with_unsure(self, unsure: f64) -> Option<Self> {
        (unsure * self.mean <= MOST_MISSING as f64).then_some(Self { unsure, ..self })
    }
}

/// The share of keys without a place in lines of `mean` keys on average, which are Poisson distributed, and the share of
/// lines with more keys than places.
fn crowded(mean: f64) -> (f64, f64) {
    let mut chance = (-mean).exp();
    let (mut missing, mut full) = (0.0, 0.0);
    for keys in 1..4 * MOST_ENTRIES {
        chance *= mean / keys as f64;
        missing += chance * keys.saturating_sub(MOST_ENTRIES) as f64;
        full += if keys > MOST_ENTRIES { chance } else { 0.0 };
    }
    (missing / mean, full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::filter_shape::FilterShape;
    use std::collections::BTreeSet;

    fn shape(keys: u64, leading: u32) -> LineShape {
        let FilterShape::Lines(shape) = FilterShape::new(keys, leading, Some(1)).unwrap() else { panic!() };
        shape
    }

    #[test]
    fn at_least_21_bits_a_key_and_at_most_32() {
        assert!(matches!(FilterShape::new(50_400_000, 22, Some(1)), Some(FilterShape::Bloom(_))));
        for (keys, leading, told) in
            [(4096, 8, 8), (65_536, 12, 12), (20_000_000, 27, 19), (1_000_000_000, 32, 25), (1 << 33, 32, 28)]
        {
            let shape = shape(keys, leading);
            assert_eq!((shape.told(), shape.prefix(), shape.flipped), (told, told + 16, leading.min(told + 7)));
            let bits = shape.bytes() as f64 * 8.0 / keys as f64;
            assert!((21.3..32.1).contains(&bits), "{keys}: {bits}");
        }
    }

    #[test]
    fn wanted_prefixes_are_within_the_radius_and_within_the_distance() {
        for (keys, leading) in [(1_000_000_000, 32), (20_000_000, 28), (70_000, 20), (70_000, 12), (4096, 10)] {
            let shape = shape(keys, leading);
            for (radius, distance) in [(0, 0), (1, 3), (0, 3), (1, 1), (2, 3)] {
                let masks = shape.wanted_masks(radius, distance);
                assert_eq!(masks.iter().collect::<BTreeSet<_>>().len(), masks.len());
                assert!((masks.len() as f64 - shape.wanted(radius, distance)).abs() < 0.5);
                let leading = u64::MAX << (64 - leading.min(shape.prefix()));
                for mask in masks {
                    assert!((mask & leading).count_ones() <= radius && mask.count_ones() <= distance);
                    assert_eq!(mask << shape.prefix(), 0);
                }
            }
        }
        // 1 + 9 + 36 + 84 for no flip in the leading part, 1 + 9 + 36 for each of the 32.
        assert_eq!(shape(1_000_000_000, 32).wanted_masks(1, 3).len(), 130 + 32 * 46);
    }
}
