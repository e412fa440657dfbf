//! The prefix filter of a table, in memory only: excludes almost every prefix that no key has.
//!
//! A query probes every prefix within a few flips of its own. Of long prefixes hardly any exists, so one look-up in the
//! filter, one word of memory, saves finding, reading and decoding a block. There are no false negatives.
//!
//! It is a blocked Bloom filter (Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters", 2007)
//! whose block is one 64-bit word: the hash of a prefix names the word and a few bits in it. Prefixes that differ only
//! in their last bits share a group of eight words, so that flipped prefixes cost no second memory access. `plan`
//! chooses the number of bits, and of keys that share a word ([`FilterShape`]), by the number of prefixes to be probed:
//! some 4% or 0.6% of the absent prefixes pass, or more where the memory is less. The filter is built from the table's
//! keys when a store is opened, and never stored.

use crate::codec::prefetch;
use crate::env::Array;
use crate::fingerprint::leading_ones;
use crate::plan::filter_shape::{FilterShape, LINE, hash};

/// Prefixes that are hashed, and their words prefetched, before the first of them is entered.
const AHEAD: usize = 64;

#[derive(Debug)]
pub(crate) struct Filter {
    shape: FilterShape,
    words: Array,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FilterPrefix {
    /// The least key with this prefix.
    pub(crate) first: u64,
    word: u32,
    /// The numbers of its bits in the word, six bits each; the first one again if there are two.
    bits: u32,
}

impl Filter {
    fn enter(&mut self, prefix: FilterPrefix) {
        let mask = self.mask(prefix);
        self.words.as_mut_slice().iter_mut().skip(prefix.word as usize).take(1).for_each(|word| *word |= mask);
    }

    pub(crate) fn shape(&self) -> FilterShape {
        self.shape
    }

    /// The first step of probing prefixes, each given as the least key that has it: prefetches their words.
    #[inline]
    pub(crate) fn prefetch(&self, firsts: impl Iterator<Item = u64>) -> impl Iterator<Item = FilterPrefix> {
        let (words, shape) = (self.words.as_slice(), self.shape);
        firsts.map(move |first| {
            let prefix = FilterPrefix::new(first, shape);
            prefetch(words, prefix.word as usize);
            prefix
        })
    }

    /// The second step: the prefixes that some key may have.
    #[inline]
    pub(crate) fn pass<'p>(&'p self, prefixes: &'p [FilterPrefix]) -> impl Iterator<Item = &'p FilterPrefix> {
        let words = self.words.as_slice();
        prefixes.iter().filter(|&&prefix| self.holds(words, prefix))
    }

    /// Whether some key may have the prefix of this one.
    #[inline]
    pub(super) fn passes(&self, key: u64) -> bool {
        let prefix = FilterPrefix::new(key & leading_ones(self.shape.prefix), self.shape);
        self.holds(self.words.as_slice(), prefix)
    }

    #[inline]
    fn holds(&self, words: &[u64], prefix: FilterPrefix) -> bool {
        let mask = self.mask(prefix);
        words.get(prefix.word as usize).is_none_or(|word| word & mask == mask)
    }

    #[inline]
    fn mask(&self, prefix: FilterPrefix) -> u64 {
        // There are three, two of which may be equal, or four.
        let bit = |number: u32| 1 << (prefix.bits >> (6 * number) & 63);
        let mask = bit(0) | bit(1) | bit(2);
        if self.shape.density.ones > 3 { mask | bit(3) } else { mask }
    }
}

pub(crate) struct FilterBuilder {
    filter: Filter,
    /// Prefixes whose words are being prefetched.
    waiting: Vec<FilterPrefix>,
    last: Option<u64>,
    bits: u64,
}

impl FilterBuilder {
    /// A builder of a filter of this shape; `None` if there is no memory for it.
    pub(super) fn new(shape: FilterShape) -> Option<Self> {
        // Words are numbered in 32 bits.
        let words = u32::try_from(shape.words).ok()?;
        let filter = Filter { shape, words: Array::new(words as usize)? };
        Some(Self { filter, waiting: Vec::with_capacity(AHEAD), last: None, bits: leading_ones(shape.prefix) })
    }

    /// Enters a key, not less than those before it.
    #[inline]
    pub(super) fn push(&mut self, key: u64) {
        let first = key & self.bits;
        if self.last.replace(first) == Some(first) {
            return;
        }
        if self.waiting.len() == AHEAD {
            self.waiting.drain(..).for_each(|prefix| self.filter.enter(prefix));
        }
        self.waiting.extend(self.filter.prefetch(std::iter::once(first)));
    }

    pub(super) fn finish(mut self) -> Filter {
        self.waiting.into_iter().for_each(|prefix| self.filter.enter(prefix));
        self.filter
    }
}

impl FilterPrefix {
    /// The prefix whose least key is `first`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of words; lower bits")]
    fn new(first: u64, shape: FilterShape) -> Self {
        // The shared leading bits name the line; the whole prefix names the word in it and the bits.
        let common = hash(first & leading_ones(shape.prefix - shape.sharing.min(shape.prefix)));
        let own = hash(first ^ common);
        let bits = if shape.density.ones == 2 { own & 0xfff | (own & 0x3f) << 12 } else { own };
        let line = (u128::from(common) * u128::from(shape.words / LINE)) >> 64;
        Self { first, word: (line as u64 * LINE + (own >> 24) % LINE) as u32, bits: bits as u32 }
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
                let all = FilterShape::new(keys, leading, Some(radius)).unwrap();
                let shape = all.within(all.bytes() * share / 100).unwrap();
                let bits = leading_ones(shape.prefix);
                let mut builder = FilterBuilder::new(shape).unwrap();
                let mut prefixes: Vec<u64> = (1..=keys).map(|number| even(number) & bits).collect();
                prefixes.sort_unstable();
                prefixes.dedup();
                prefixes.iter().for_each(|&prefix| builder.push(prefix));
                let filter = builder.finish();
                let passing = |prefixes: &[u64]| {
                    let asked: Vec<_> = filter.prefetch(prefixes.iter().copied()).collect();
                    filter.pass(&asked).count()
                };
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
