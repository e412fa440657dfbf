//! Finds a key in a sorted column: the leading bits of evenly spread keys give its position almost exactly.
//!
//! The range from the first to the last key is cut into equal slots, one for every one to four keys. The directory
//! holds for each slot the number of keys before it. A search reads two neighbouring slots and compares the next three
//! keys, which is enough if keys are spread evenly. If all three are less, it does a binary search between the slots,
//! at most over all keys: skewed ones cost a plain binary search.

use crate::bits::bit_length;
use crate::fingerprint::Fingerprint;
use std::ops::Range;

pub(crate) trait Keyed {
    fn key(&self) -> u64;
}

impl<F: Fingerprint> Keyed for F {
    #[inline]
    fn key(&self) -> u64 {
        self.word(0)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Directory {
    first: u64,
    shift: u32,
    /// For each slot the number of keys before it, then the number of all keys.
    starts: Vec<u32>,
}

impl Directory {
    pub(crate) fn new(keys: &[impl Keyed]) -> Self {
        let (Some(first), Some(last)) = (keys.first().map(Keyed::key), keys.last().map(Keyed::key)) else {
            return Self::default();
        };
        if u32::try_from(keys.len()).is_err() {
            // One slot for all keys then; this takes a segment of a hundred gigabytes.
            return Self::default();
        }
        let slot_bits = keys.len().ilog2();
        let shift = bit_length(last - first).saturating_sub(slot_bits);
        let slots = ((last - first) >> shift) as usize + 1;
        let mut starts = vec![0; slots + 1];
        for key in keys {
            // Counts in the next slot: that one has the key before it.
            starts.iter_mut().skip(((key.key() - first) >> shift) as usize + 1).take(1).for_each(|count| *count += 1);
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self { first, shift, starts }
    }

    #[inline]
    pub(crate) fn slot(&self, key: u64) -> usize {
        let slot = (key.saturating_sub(self.first) >> self.shift) as usize;
        slot.min(self.starts.len().saturating_sub(2))
    }

    /// Index of the first key that is at least `key`, which lies in `slot`; the number of keys if there is none.
    #[inline]
    pub(crate) fn lower_bound(&self, keys: &[impl Keyed], slot: usize, key: u64) -> usize {
        let (start, end) = match self.starts.get(slot..).and_then(|starts| starts.first_chunk::<2>()) {
            Some(&[start, end]) => (start as usize, end as usize),
            None => (0, keys.len()),
        };
        first_from(keys, start..end, key)
    }

    pub(super) fn resident_bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u32>()
    }
}

/// Index of the first of the keys from `within.start` on that is at least `key`. It is in `within`, or at its end.
///
/// Compares a few keys without a branch: one that depended on them would be mispredicted half of the time.
#[inline]
pub(super) fn first_from(keys: &[impl Keyed], within: Range<usize>, key: u64) -> usize {
    const FEW: usize = 3;
    let start = within.start;
    // Keys from the end of `within` on are not less than `key`: they do not change the count.
    if let Some(few) = keys.get(start..).and_then(|keys| keys.first_chunk::<FEW>()) {
        let before: usize = few.iter().map(|other| usize::from(other.key() < key)).sum();
        if before < FEW {
            return start + before;
        }
    }
    start + keys.get(within).unwrap_or_default().partition_point(|other| other.key() < key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(keys: &[u64], probe: u64) {
        let directory = Directory::new(keys);
        let found = directory.lower_bound(keys, directory.slot(probe), probe);
        assert_eq!(found, keys.partition_point(|&other| other < probe), "{probe:x}");
    }

    #[test]
    fn even_keys_leave_little_to_search() {
        let keys: Vec<u64> = (0..100_000u64).map(|i| i * 184_467_440_737_095 + 12345).collect();
        let directory = Directory::new(&keys);
        let longest = directory.starts.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(longest <= Some(2), "{longest:?}");
        assert!(directory.resident_bytes() <= 4 * keys.len() + 8);
    }

    proptest! {
        #[test]
        fn finds_what_partition_point_finds(mut keys in prop::collection::vec(any::<u64>(), 0..300), key: u64, shift in 0u32..64, offset: u64) {
            keys.iter_mut().for_each(|key| *key = (*key >> shift).saturating_add(offset));
            keys.sort_unstable();
            keys.dedup();
            for probe in [key, (key >> shift).saturating_add(offset), 0, u64::MAX, offset] {
                check(&keys, probe);
            }
            for &key in keys.iter().take(20) {
                check(&keys, key);
                check(&keys, key.saturating_add(1));
            }
        }
    }
}
