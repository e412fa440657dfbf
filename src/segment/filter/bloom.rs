//! A blocked Bloom filter of prefixes (Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters",
//! 2007).
//!
//! A block is one 64-bit word: the hash of a prefix names the word and a few bits in it. Prefixes that differ only in
//! their last bits share a group of eight words, so that flipped prefixes cost no second memory access. `plan` chooses
//! the number of bits, and of keys that share a word ([`BloomShape`]), by the number of prefixes to be probed: some 4%
//! or 0.6% of the absent prefixes pass, or more where the memory is less.

use super::prefix::FilterPrefix;
use crate::codec::prefetch;
use crate::env::Array;
use crate::error::Result;
use crate::fingerprint::leading_ones;
use crate::plan::filter_shape::{BloomShape, LINE, hash};

/// Prefixes that are hashed, and their words prefetched, before the first of them is entered.
const AHEAD: usize = 64;

#[derive(Debug)]
pub(crate) struct BloomFilter {
    shape: BloomShape,
    words: Array,
}

impl BloomFilter {
    fn enter(&mut self, prefix: &FilterPrefix) {
        let mask = self.mask(prefix);
        self.words.as_mut_slice().iter_mut().skip(prefix.place as usize).take(1).for_each(|word| *word |= mask);
    }

    pub(super) fn words(&self) -> &[u64] {
        self.words.as_slice()
    }

    pub(super) fn shape(&self) -> BloomShape {
        self.shape
    }

    /// Prefetches the word of a prefix, given as the least key that has it.
    #[inline]
    pub(super) fn begin(&self, first: u64) -> FilterPrefix {
        let prefix = self.prefix(first);
        prefetch(self.words.as_slice(), prefix.place as usize);
        prefix
    }

    #[inline]
    pub(super) fn passes(&self, key: u64) -> bool {
        self.holds(&self.prefix(key & leading_ones(self.shape.prefix)))
    }

    /// Whether some key may have the prefix.
    #[inline]
    pub(super) fn holds(&self, prefix: &FilterPrefix) -> bool {
        let mask = self.mask(prefix);
        self.words.as_slice().get(prefix.place as usize).is_none_or(|word| word & mask == mask)
    }

    #[inline]
    fn mask(&self, prefix: &FilterPrefix) -> u64 {
        // There are three, two of which may be equal, or four.
        let bit = |number: u32| 1 << (prefix.bits >> (6 * number) & 63);
        let mask = bit(0) | bit(1) | bit(2);
        if self.shape.density.ones > 3 { mask | bit(3) } else { mask }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of words; lower bits")]
    fn prefix(&self, first: u64) -> FilterPrefix {
        let shape = self.shape;
        // The shared leading bits name the line; the whole prefix names the word in it and the bits.
        let common = hash(first & leading_ones(shape.prefix - shape.sharing.min(shape.prefix)));
        let own = hash(first ^ common);
        // The numbers of the bits, six bits each; the first one again if there are two.
        let bits = if shape.density.ones == 2 { own & 0xfff | (own & 0x3f) << 12 } else { own };
        let line = (u128::from(common) * u128::from(shape.words / LINE)) >> 64;
        FilterPrefix { first, place: (line as u64 * LINE + (own >> 24) % LINE) as u32, bits: bits as u32 }
    }
}

pub(in crate::segment) struct BloomBuilder {
    filter: BloomFilter,
    /// Prefixes whose words are being prefetched.
    waiting: Vec<FilterPrefix>,
    last: Option<u64>,
    bits: u64,
}

impl BloomBuilder {
    /// A builder of a filter of this shape; `None` if there is no memory for it.
    pub(super) fn new(shape: BloomShape) -> Option<Self> {
        // Words are numbered in 32 bits.
        let words = u32::try_from(shape.words).ok()?;
        let filter = BloomFilter { shape, words: Array::new(words as usize)? };
        Some(Self { filter, waiting: Vec::with_capacity(AHEAD), last: None, bits: leading_ones(shape.prefix) })
    }

    /// The filter whose words `read` fills.
    pub(super) fn read(mut self, read: impl FnOnce(&mut [u64]) -> Result<()>) -> Result<BloomFilter> {
        read(self.filter.words.as_mut_slice())?;
        Ok(self.filter)
    }

    /// Enters a key, not less than those before it.
    #[inline]
    pub(super) fn push(&mut self, key: u64) {
        let first = key & self.bits;
        if self.last.replace(first) == Some(first) {
            return;
        }
        if self.waiting.len() == AHEAD {
            self.waiting.drain(..).for_each(|prefix| self.filter.enter(&prefix));
        }
        self.waiting.push(self.filter.begin(first));
    }

    pub(super) fn finish(mut self) -> BloomFilter {
        self.waiting.into_iter().for_each(|prefix| self.filter.enter(&prefix));
        self.filter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::mix;

    fn even(number: u64) -> u64 {
        mix(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    #[test]
    fn what_was_entered_passes_and_of_the_rest_the_share_that_the_planner_reckons_with() {
        // Leading parts that tell all keys apart, that share no line, and that keys share.
        for (radius, leading) in [(1, 64), (3, 64), (1, 24), (1, 22), (3, 22)] {
            for (keys, share) in [(70_000, 100), (1_000_000, 100), (300_000, 70), (300_000, 40), (300_000, 27)] {
                let all = BloomShape::new(keys, leading, Some(radius)).unwrap();
                let shape = all.within(all.bytes() * share / 100).unwrap();
                let bits = leading_ones(shape.prefix);
                let mut builder = BloomBuilder::new(shape).unwrap();
                let mut prefixes: Vec<u64> = (1..=keys).map(|number| even(number) & bits).collect();
                prefixes.sort_unstable();
                prefixes.dedup();
                prefixes.iter().for_each(|&prefix| builder.push(prefix));
                let filter = builder.finish();
                let passing = |prefixes: &[u64]| prefixes.iter().filter(|&&prefix| filter.passes(prefix)).count();
                assert_eq!(passing(&prefixes), prefixes.len());
                let others = (keys + 1..=keys + 500_000).map(|number| even(number) & bits);
                let others: Vec<u64> = others.filter(|prefix| prefixes.binary_search(prefix).is_err()).collect();
                let passed = passing(&others);
                let share = passed as f64 / others.len() as f64;
                let expected = shape.false_positives(prefixes.len() as f64);
                // With half a million, chance alone moves the share by some percent.
                assert!((share / expected - 1.0).abs() < 0.1, "{shape:?}: {share}, not {expected}");
            }
        }
    }
}
