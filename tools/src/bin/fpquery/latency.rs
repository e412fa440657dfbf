//! Latencies of queries in bounded memory: a histogram whose buckets are at most 1/32 of their value wide.

use std::time::Duration;

const FINE_BITS: u32 = 5;
const FINE: u64 = 1 << FINE_BITS;

/// Times in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latency {
    buckets: Vec<u64>,
    number: u64,
    sum: u128,
    max: u64,
}

impl Latency {
    /// Adds a time.
    pub(crate) fn add(&mut self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let bucket = bucket(nanoseconds);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        if let Some(count) = self.buckets.get_mut(bucket) {
            *count += 1;
        }
        self.number += 1;
        self.sum += u128::from(nanoseconds);
        self.max = self.max.max(nanoseconds);
    }

    /// Adds the times of another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.number += other.number;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// The time that `percent` of the queries did not exceed, in microseconds.
    pub(crate) fn percentile(&self, percent: u64) -> f64 {
        let rank = (self.number * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return microseconds(upper(bucket).min(self.max));
            }
        }
        microseconds(self.max)
    }

    /// The mean time in microseconds; 0 without queries.
    pub(crate) fn mean(&self) -> f64 {
        let mean = self.sum / u128::from(self.number.max(1));
        microseconds(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// The longest time in microseconds.
    pub(crate) fn max(&self) -> f64 {
        microseconds(self.max)
    }
}

fn microseconds(nanoseconds: u64) -> f64 {
    fpstore_tools::number::float(nanoseconds) / 1000.0
}

/// Values below 32 have a bucket each; above, each power of two has 32 buckets.
fn bucket(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(FINE_BITS + 1);
    usize::try_from(u64::from(shift) * FINE + (value >> shift)).unwrap_or(usize::MAX)
}

/// Returns the largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / FINE).saturating_sub(1);
    let value = bucket - shift * FINE;
    ((u128::from(value) + 1) << shift).saturating_sub(1).try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_their_values_closely() {
        let mut last = 0;
        for value in
            (0..5000).chain((13..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1])).chain([u64::MAX])
        {
            let bucket = bucket(value);
            assert!(bucket >= last, "{value}");
            last = bucket;
            let upper = upper(bucket);
            assert!(upper >= value && upper - value <= value / 32, "{value} {upper}");
        }
    }

    #[test]
    fn percentiles() {
        let mut all = Latency::default();
        assert_eq!(all.percentile(50), 0.0);
        let mut half = Latency::default();
        for i in 1..=1000_u64 {
            let part = if i % 2 == 0 { &mut all } else { &mut half };
            part.add(Duration::from_micros(i));
        }
        all.merge(&half);
        for (percent, expected) in [(50, 500.0), (90, 900.0), (99, 990.0), (100, 1000.0)] {
            let found = all.percentile(percent);
            assert!((expected..=expected * 1.04).contains(&found), "{percent}: {found}");
        }
        assert_eq!(all.max(), 1000.0);
    }
}
