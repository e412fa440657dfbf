//! Looks keys up in a sorted array.

/// A key of an array.
pub(super) trait Key: Copy + Ord {
    /// The leading 64 bits.
    fn head(self) -> u64;
}

impl Key for u64 {
    fn head(self) -> u64 {
        self
    }
}

impl Key for [u64; 2] {
    fn head(self) -> u64 {
        let [head, _] = self;
        head
    }
}

/// Sorts entries by their keys, and keeps the lowest rank of each.
pub(super) fn sort<K: Key>(entries: &mut Vec<(K, u64)>) {
    entries.sort_unstable();
    entries.dedup_by_key(|(key, _)| *key);
    entries.shrink_to_fit();
}

/// Returns the index of a key. It is guessed from the keys around it, which takes few steps for hashes and for dense
/// numbers; every other step halves the range, so no keys take more than twice the steps of a binary search.
pub(super) fn find<K: Key>(entries: &[(K, u64)], key: K) -> Option<usize> {
    let (mut from, mut to, mut halves) = (0, entries.len(), false);
    let mut lower = entries.first()?.0.head();
    let mut upper = entries.last()?.0.head();
    while from < to && (lower..=upper).contains(&key.head()) {
        let (range, span) = ((to - from) as u128, u128::from(upper - lower) + 1);
        let guess = if halves { range / 2 } else { range * u128::from(key.head() - lower) / span };
        let middle = from + usize::try_from(guess).unwrap_or(usize::MAX).min(to - from - 1);
        let found = entries.get(middle)?.0;
        match found.cmp(&key) {
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Less => (from, lower) = (middle + 1, found.head()),
            std::cmp::Ordering::Greater => (to, upper) = (middle, found.head()),
        }
        halves = !halves;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_is_there(
            keys in prop::collection::vec(prop_oneof![0u64..20, any::<u64>(), Just(u64::MAX)], 0..60),
            others in prop::collection::vec(prop_oneof![0u64..20, any::<u64>()], 0..10),
        ) {
            let mut entries: Vec<(u64, u64)> = keys.iter().copied().zip((0..7).cycle()).collect();
            let mut wide: Vec<([u64; 2], u64)> = entries.iter().map(|(key, rank)| ([key / 4, *key], *rank)).collect();
            let all = entries.clone();
            sort(&mut entries);
            sort(&mut wide);
            for key in keys.iter().chain(&others) {
                let rank = all.iter().filter(|entry| entry.0 == *key).map(|entry| entry.1).min();
                prop_assert_eq!(find(&entries, *key).map(|index| entries[index].1), rank);
                prop_assert_eq!(find(&wide, [key / 4, *key]).map(|index| wide[index].1), rank);
            }
        }
    }
}
