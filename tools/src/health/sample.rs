//! A sample of records, each with the same probability (reservoir sampling, the same in every run).

use crate::number::float;
use fpstore::Fingerprint;

use super::distinct::mixed;

/// Records in a sample.
const SIZE: usize = 1 << 16;
/// Records of the sample that are compared pairwise.
const COMPARED: usize = 1 << 11;

/// A sample of all records that were pushed.
#[derive(Clone, Debug)]
pub(super) struct Sample<F> {
    kept: Vec<F>,
    seen: u64,
}

impl<F: Fingerprint> Sample<F> {
    pub(super) fn new() -> Self {
        Self { kept: Vec::new(), seen: 0 }
    }

    pub(super) fn push(&mut self, fingerprint: F) {
        self.seen += 1;
        if self.kept.len() < SIZE {
            self.kept.push(fingerprint);
            return;
        }
        // A place among all records so far; most of them are no longer in the sample.
        let place = (u128::from(mixed(self.seen)) * u128::from(self.seen)) >> 64;
        if let Some(kept) = usize::try_from(place).ok().and_then(|place| self.kept.get_mut(place)) {
            *kept = fingerprint;
        }
    }

    /// Number of records in the sample.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether it holds all records.
    pub(super) fn is_all(&self) -> bool {
        self.seen == self.kept.len() as u64
    }

    /// Returns the most frequent value (the smallest of several) and its occurrences in the sample.
    pub(super) fn most_frequent(&self) -> Option<(F, usize)> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let runs = sorted.chunk_by(|a, b| a == b).filter_map(|run| Some((*run.first()?, run.len())));
        runs.reduce(|most, run| if run.1 > most.1 { run } else { most })
    }

    /// For the distinct values except all zeros and all ones: returns the shares with fewer ones and with fewer zeros
    /// than `few`, and their numbers.
    pub(super) fn few(&self, few: u32) -> [(f64, usize); 2] {
        let mut values = self.kept.clone();
        values.sort_unstable();
        values.dedup();
        let ones = |value: &F| (0..F::WORDS).map(|number| value.word(number).count_ones()).sum::<u32>();
        let number = |is_few: &dyn Fn(u32) -> bool| values.iter().filter(|value| is_few(ones(value))).count();
        let all = float((values.len() as u64).max(1));
        [number(&|ones| (1..few).contains(&ones)), number(&|ones| (1..few).contains(&(F::WIDTH - ones)))]
            .map(|number| (float(number as u64) / all, number))
    }

    /// Returns the standard deviation of the distances of all pairs in a part of the sample, if there are two records.
    #[allow(clippy::cast_precision_loss, reason = "some millions of small numbers")]
    pub(super) fn deviation(&self) -> Option<f64> {
        let some: Vec<F> = self.kept.iter().step_by(self.kept.len().div_ceil(COMPARED).max(1)).copied().collect();
        let (mut pairs, mut sum, mut squares) = (0_u64, 0_u64, 0_u64);
        let mut rest = some.as_slice();
        while let Some((first, others)) = rest.split_first() {
            for other in others {
                let distance = u64::from(first.distance(*other));
                sum += distance;
                squares += distance * distance;
            }
            pairs += others.len() as u64;
            rest = others;
        }
        if pairs == 0 {
            return None;
        }
        let mean = sum as f64 / pairs as f64;
        let variance = squares as f64 / pairs as f64 - mean * mean;
        Some(variance.max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: impl Iterator<Item = u64>) -> Sample<u64> {
        let mut sample = Sample::new();
        values.for_each(|value| sample.push(value));
        sample
    }

    #[test]
    fn every_record_is_as_likely() {
        let all = sample(0..1000);
        assert!(all.is_all() && all.len() == 1000);
        let some = sample(0..1_000_000);
        assert!(!some.is_all() && some.len() == SIZE);
        // A tenth of the sample in each tenth of the records; six standard deviations are 460.
        for tenth in 0..10 {
            let in_it = some.kept.iter().filter(|value| **value / 100_000 == tenth).count();
            assert!(in_it.abs_diff(SIZE / 10) < 460, "{tenth}: {in_it}");
        }
    }

    #[test]
    fn few_ones_and_few_zeros() {
        let values = [0, 0, 1, 1, 0xf_ffff, 0x7_ffff, !1, !0xf_ffff, !0x7_ffff, u64::MAX, 1 << 40];
        let found = sample(values.into_iter()).few(20);
        assert_eq!(found, [(3.0 / 9.0, 3), (2.0 / 9.0, 2)]);
        assert_eq!(sample(std::iter::empty()).few(20), [(0.0, 0); 2]);
    }

    #[test]
    fn frequent_values_and_distances() {
        assert_eq!(sample(std::iter::empty()).most_frequent(), None);
        assert_eq!(sample([5, 3, 5, 3, 9].into_iter()).most_frequent(), Some((3, 2)));
        assert_eq!(sample([7].into_iter()).deviation(), None);
        // Distances 2, 2 and 4.
        let deviation = sample([0b11, 0, 0b1100].into_iter()).deviation().unwrap();
        assert!((deviation - (8.0_f64 / 9.0).sqrt()).abs() < 1e-12);
        let even = sample((0..100_000).map(mixed)).deviation().unwrap();
        assert!((even - 4.0).abs() < 0.1, "{even}");
    }
}
