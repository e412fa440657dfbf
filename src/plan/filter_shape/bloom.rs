//! The density and the false positive rate of a Bloom filter.
//!
//! It consists of words of 64 bits, in which each prefix sets a few bits of one. A query within radius 1 looks up some
//! thirty prefixes; one false positive in 23 costs less than the memory to prevent it. Within radius 3 there are
//! thousands, and of a table far larger than the caches a block costs more: a filter with twice the bits has one in 160
//! (benches/results/queries.md has what that saves).

/// Keys of the smallest table with a filter: with fewer, its blocks are few.
const LEAST_KEYS: u64 = 1 << 12;
/// The least radius of a [`DENSE`] filter.
const DENSE_FROM: u32 = 2;
/// The least keys of a [`DENSE`] filter within any radius.
const DENSE_KEYS: u64 = 1 << 25;

pub(crate) const LINE: u64 = 8;

/// Least bits a key of a filter; with fewer, more than two fifths of the absent prefixes would pass.
const LEAST_BITS: f64 = 2.0;

/// Most last bits in which prefixes of one line differ: with more, lines fill too unevenly.
const MOST_SHARING: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Density {
    bits: f64,
    /// Bits that a prefix sets in its word.
    pub(crate) ones: u32,
    /// False positive rate if all keys have distinct prefixes.
    pub(crate) false_positives: f64,
}

const USUAL: Density = Density { bits: 7.5, ones: 3, false_positives: 0.0426 };
const DENSE: Density = Density { bits: 15.0, ones: 4, false_positives: 0.0061 };

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BloomShape {
    pub(crate) prefix: u32,
    /// Prefixes that differ in this many last bits only share a line.
    pub(crate) sharing: u32,
    /// Number of 64-bit words, a multiple of [`LINE`].
    pub(crate) words: u64,
    pub(crate) density: Density,
}

impl BloomShape {
    /// The filter of a table that is probed within `radius` at the store's maximum distance; `None` if the table is too
    /// small.
    ///
    /// Its prefix is the leading part, but at most eight bits more than log2 n: further bits only make more prefixes to
    /// look up, none of which exist.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    pub(crate) fn new(keys: u64, leading: u32, radius: Option<u32>) -> Option<Self> {
        if keys < LEAST_KEYS {
            return None;
        }
        let is_dense = keys >= DENSE_KEYS || radius.is_some_and(|radius| radius >= DENSE_FROM);
        let density = if is_dense { DENSE } else { USUAL };
        let words = ((keys as f64 * density.bits / 64.0) as u64 + 1).next_multiple_of(LINE);
        let prefix = leading.min(keys.ilog2() + 9);
        // Enough that hardly more than one existing prefix shares a line on average; more would fill lines unevenly.
        let sharing = prefix.saturating_sub(keys.ilog2() + 3).min(MOST_SHARING);
        Some(Self { prefix, sharing, words, density })
    }

    pub(crate) fn bytes(self) -> u64 {
        self.words * 8
    }

    /// The best filter of the same prefixes in at most so many bytes; `None` if they are too few to be of use.
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    pub(crate) fn within(self, bytes: u64) -> Option<Self> {
        if bytes >= self.bytes() {
            return Some(self);
        }
        let words = bytes / 8 / LINE * LINE;
        let keys = self.words as f64 * 64.0 / self.density.bits;
        let bits = words as f64 * 64.0 / keys;
        if bits < LEAST_BITS {
            return None;
        }
        let of = |ones| {
            let shape = Self { words, density: Density { bits, ones, ..self.density }, ..self };
            let false_positives = shape.false_positives(keys);
            Self { density: Density { false_positives, ..shape.density }, ..shape }
        };
        let better = |one: &Self, other: &Self| one.density.false_positives.total_cmp(&other.density.false_positives);
        (2..=self.density.ones).map(of).min_by(better)
    }

    /// The least bytes that [`BloomShape::within`] takes.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    pub(crate) fn least_bytes(self) -> u64 {
        let least = (self.words as f64 * LEAST_BITS / self.density.bits).ceil() as u64;
        least.next_multiple_of(LINE).min(self.words) * 8
    }

    /// The false positive rate after `entered` distinct prefixes.
    ///
    /// The prefixes are Poisson distributed over the words. In a word with j of them, each bit is 0 with probability
    /// (63/64)^(ones j), and a prefix passes if none of its bits is.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn false_positives(self, entered: f64) -> f64 {
        let load = entered / self.words as f64;
        let ones = f64::from(self.density.ones);
        let mut chance = (-load).exp();
        (0..100)
            .map(f64::from)
            .map(|j| {
                let share = chance * (1.0 - (63.0f64 / 64.0).powf(ones * j)).powf(ones);
                chance *= load / (j + 1.0);
                share
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_where_many_prefixes_are_asked_for() {
        let n = 20_000_000;
        let [usual, dense] = [Some(1), Some(2)].map(|radius| BloomShape::new(n, 64, radius).unwrap());
        assert_eq!((usual.prefix, usual.density, usual.words), (33, USUAL, 2_343_752));
        assert_eq!((dense.prefix, dense.density, dense.words), (33, DENSE, 4_687_504));
        assert_eq!(BloomShape::new(n, 32, None), BloomShape::new(n, 32, Some(0)));
        let density = |keys| BloomShape::new(keys, 64, Some(1)).unwrap().density;
        assert_eq!([33_554_431, 33_554_432].map(density), [USUAL, DENSE]);
        for shape in [usual, dense] {
            let (full, known) = (shape.false_positives(2e7), shape.density.false_positives);
            assert!((full - known).abs() < 1e-4, "{full} {known}");
        }
        assert!(usual.false_positives(1e6) < 0.001 && usual.false_positives(0.0) < 1e-9);
    }

    #[test]
    fn fewer_bits_within_fewer_bytes() {
        for radius in [1, 3] {
            let all = BloomShape::new(20_000_000, 64, Some(radius)).unwrap();
            assert_eq!(all.within(all.bytes()), Some(all));
            let least = all.least_bytes();
            assert!(all.within(least).is_some() && all.within(least - 64).is_none());
            let mut last = (all.density.false_positives, all.density.ones);
            for share in (1..20).rev() {
                let bytes = all.bytes() * share / 20;
                let Some(shape) = all.within(bytes) else { break };
                assert!(shape.bytes() <= bytes && shape.bytes() + 64 > bytes && shape.prefix == all.prefix);
                let next = (shape.density.false_positives, shape.density.ones);
                assert!(next.0 > last.0 && next.1 <= last.1 && next.0 < 0.41, "{shape:?}");
                last = next;
            }
            assert_eq!(last.1, 2);
        }
    }
}
