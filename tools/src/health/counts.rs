//! Counts how often each bit is 1, and each pair of bits together.

use fpstore::Fingerprint;
use rayon::prelude::*;

use super::transpose::transpose;

/// Fingerprints that one thread counts in a row.
const PIECE: usize = 1 << 12;

/// Counts of fingerprints of one width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) records: u64,
    /// Fingerprints whose bits are all 0.
    pub(super) zeros: u64,
    /// Fingerprints whose bits are all 1.
    pub(super) all_ones: u64,
    ones: Vec<u64>,
    /// For each bit, how often it is 1 together with each later bit.
    both: Vec<Vec<u64>>,
}

impl Counts {
    /// Returns counts of no fingerprints.
    pub(super) fn new(width: u32) -> Self {
        let width = width as usize;
        let both = (0..width).map(|bit| vec![0; width - bit - 1]).collect();
        Self { records: 0, zeros: 0, all_ones: 0, ones: vec![0; width], both }
    }

    /// Counts these fingerprints on all threads.
    pub(super) fn of<F: Fingerprint>(fingerprints: &[F]) -> Self {
        let empty = || Self::new(F::WIDTH);
        let piece = |mut counts: Self, piece: &[F]| {
            counts.add(piece);
            counts
        };
        fingerprints.par_chunks(PIECE).fold(empty, piece).reduce(empty, Self::with)
    }

    fn add<F: Fingerprint>(&mut self, fingerprints: &[F]) {
        let mut columns = vec![0; F::WIDTH as usize];
        for block in fingerprints.chunks(64) {
            self.records += block.len() as u64;
            for fingerprint in block {
                let mut words = (0..F::WORDS).map(|number| fingerprint.word(number));
                self.zeros += u64::from(words.all(|word| word == 0));
                let mut words = (0..F::WORDS).map(|number| fingerprint.word(number));
                self.all_ones += u64::from(words.all(|word| word == u64::MAX));
            }
            for (number, columns) in columns.as_chunks_mut::<64>().0.iter_mut().enumerate() {
                // Unused columns of a block are zero and count nothing.
                *columns = [0; 64];
                columns.iter_mut().zip(block).for_each(|(row, fingerprint)| *row = fingerprint.word(number));
                transpose(columns);
            }
            let mut rest = columns.as_slice();
            for (ones, both) in self.ones.iter_mut().zip(&mut self.both) {
                let Some((column, later)) = rest.split_first() else { break };
                *ones += u64::from(column.count_ones());
                for (count, other) in both.iter_mut().zip(later) {
                    *count += u64::from((column & other).count_ones());
                }
                rest = later;
            }
        }
    }

    /// Adds other counts.
    pub(super) fn with(mut self, other: Self) -> Self {
        let add = |all: &mut [u64], other: &[u64]| all.iter_mut().zip(other).for_each(|(sum, count)| *sum += count);
        self.records += other.records;
        self.zeros += other.zeros;
        self.all_ones += other.all_ones;
        add(&mut self.ones, &other.ones);
        self.both.iter_mut().zip(&other.both).for_each(|(all, other)| add(all, other));
        self
    }

    /// Number of bits.
    pub(super) fn width(&self) -> usize {
        self.ones.len()
    }

    /// How often a bit is 1.
    pub(super) fn ones(&self, bit: usize) -> u64 {
        self.ones.get(bit).copied().unwrap_or(0)
    }

    /// How often two bits are both 1.
    pub(super) fn both(&self, a: usize, b: usize) -> u64 {
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return self.ones(a);
        }
        self.both.get(a).and_then(|later| later.get(b - a - 1)).copied().unwrap_or(0)
    }

    /// How often two bits differ.
    pub(super) fn different(&self, a: usize, b: usize) -> u64 {
        self.ones(a) + self.ones(b) - 2 * self.both(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpstore::U256;
    use proptest::prelude::*;

    fn check<F: Fingerprint>(fingerprints: &[F]) {
        let counts = Counts::of(fingerprints);
        let width = F::WIDTH as usize;
        let bit = |fingerprint: &F, bit: usize| fingerprint.word(bit / 64) >> (63 - bit % 64) & 1;
        assert_eq!((counts.records, counts.width()), (fingerprints.len() as u64, width));
        for a in 0..width {
            assert_eq!(counts.ones(a), fingerprints.iter().map(|fingerprint| bit(fingerprint, a)).sum::<u64>());
            for b in (a..width).step_by(7) {
                let both = fingerprints.iter().filter(|one| bit(one, a) == 1 && bit(one, b) == 1).count() as u64;
                let different = fingerprints.iter().filter(|one| bit(one, a) != bit(one, b)).count() as u64;
                assert_eq!((counts.both(a, b), counts.both(b, a), counts.different(a, b)), (both, both, different));
            }
        }
        let all = |word| fingerprints.iter().filter(|one| (0..F::WORDS).all(|i| one.word(i) == word)).count() as u64;
        assert_eq!((counts.zeros, counts.all_ones), (all(0), all(u64::MAX)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn as_counted_one_by_one(words in prop::collection::vec(any::<[u64; 4]>(), 0..200), extreme in 0_usize..4) {
            let mut words = words;
            words.extend(vec![[0; 4]; extreme]);
            words.extend(vec![[u64::MAX; 4]; extreme]);
            check(&words.iter().map(|words| words[0]).collect::<Vec<u64>>());
            check(&words.iter().map(|words| u128::from(words[1]) << 64 | u128::from(words[0])).collect::<Vec<u128>>());
            check(&words.iter().map(|words| U256(*words)).collect::<Vec<U256>>());
        }
    }

    #[test]
    fn pieces_add_up() {
        let numbers: Vec<u64> = (0..20_000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut alone = Counts::new(64);
        alone.add(&numbers);
        assert_eq!(Counts::of(&numbers), alone);
        let (first, second) = numbers.split_at(777);
        assert_eq!(Counts::of(first).with(Counts::of(second)), alone);
    }
}
