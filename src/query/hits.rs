//! The fingerprints nearest to a query, and where they were found, as many as memory allows.

use crate::fingerprint::{Fingerprint, distance};

/// A fingerprint near a query, and where it was found.
pub(crate) type Hit<F> = (F, HitPlace);

/// Where a fingerprint was found. The order is from old to new; within one segment, a known rank comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HitPlace {
    /// The number of a segment, and the rank in its primary table if it is known.
    Segment(usize, Option<u64>),
    /// The number of a memtable, and that of the fingerprint in it.
    Memtable(usize, u32),
}

impl HitPlace {
    /// Whether both are in the same segment or memtable.
    fn is_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Segment(a, _), Self::Segment(b, _)) | (Self::Memtable(a, _), Self::Memtable(b, _)) => a == b,
            _ => false,
        }
    }
}

/// Hits in the order of answers, those of one fingerprint from new to old; and the farthest fingerprint, if farther
/// ones were dropped.
pub(crate) type Nearest<F> = (Vec<Hit<F>>, Option<(u32, F)>);

/// Collects the hits of the fingerprints that follow a given one in the order of answers.
#[derive(Debug)]
pub(crate) struct NearHits<F> {
    query: F,
    /// Only fingerprints after this one count.
    after: Option<(u32, F)>,
    /// Maximum number of fingerprints to keep.
    most: usize,
    /// The farthest fingerprint that is kept, once some were dropped.
    limit: Option<(u32, F)>,
    /// Distances, fingerprints, and where they were found.
    found: Vec<(u32, F, HitPlace)>,
    /// Number of hits from which on the farthest are dropped.
    crowded: usize,
}

impl<F: Fingerprint> NearHits<F> {
    /// Keeps about `bytes`, or less if fewer fingerprints are wanted.
    pub(crate) fn new(query: F, after: Option<(u32, F)>, wanted: usize, bytes: usize) -> Self {
        /// The list has up to twice as many hits, and grows by doubling.
        const SPARE: usize = 4;
        const LEAST: usize = 64;
        let most = wanted.min((bytes / SPARE / size_of::<(u32, F, HitPlace)>()).max(LEAST));
        Self { query, after, most, limit: None, found: Vec::new(), crowded: most.saturating_mul(2).max(LEAST) }
    }

    /// Adds a hit, unless it is too near or too far.
    pub(crate) fn add(&mut self, fingerprint: F, place: HitPlace) {
        let key = (distance(fingerprint, self.query), fingerprint);
        if self.after.is_some_and(|after| key <= after) || self.limit.is_some_and(|limit| key > limit) {
            return;
        }
        self.found.push((key.0, fingerprint, place));
        if self.found.len() >= self.crowded {
            self.tidy();
            self.crowded = self.crowded.max(2 * self.found.len());
        }
    }

    /// The greatest distance that still counts, of those up to `k`.
    pub(crate) fn reach(&self, k: u32) -> u32 {
        self.limit.map_or(k, |(farthest, _)| farthest.min(k))
    }

    pub(crate) fn finish(mut self) -> Nearest<F> {
        self.tidy();
        (self.found.into_iter().map(|(_, fingerprint, place)| (fingerprint, place)).collect(), self.limit)
    }

    /// Sorts the hits, each once, and drops the farthest.
    fn tidy(&mut self) {
        let key = |&(distance, fingerprint, _): &(u32, F, HitPlace)| (distance, fingerprint);
        self.found.sort_unstable_by(|a, b| key(a).cmp(&key(b)).then_with(|| b.2.cmp(&a.2)));
        self.found.dedup_by(|next, kept| key(next) == key(kept) && next.2.is_with(kept.2));
        let mut kept = self.found.chunk_by(|a, b| key(a) == key(b));
        let hits: usize = kept.by_ref().take(self.most).map(<[_]>::len).sum();
        if kept.next().is_some() {
            self.found.truncate(hits);
            self.limit = self.found.last().map(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers, gathered `most` at a time.
    fn all(most: usize, numbers: &[u64]) -> Vec<u64> {
        let (mut after, mut all) = (None, Vec::new());
        loop {
            let mut near = NearHits::new(0u64, after, most, usize::MAX);
            for &number in numbers {
                // Several places, some of them twice.
                for (segment, rank) in [(0, None), (1, Some(number)), (1, None)] {
                    near.add(number, HitPlace::Segment(segment, rank));
                }
            }
            let (found, limit) = near.finish();
            assert!(found.len() <= 2 * most);
            for places in found.chunk_by(|a, b| a.0 == b.0) {
                let number = places[0].0;
                let expected = [(number, HitPlace::Segment(1, Some(number))), (number, HitPlace::Segment(0, None))];
                assert_eq!(places, expected);
                all.push(number);
            }
            after = limit;
            if limit.is_none() {
                return all;
            }
        }
    }

    #[test]
    fn all_come_in_order_for_any_number_kept_at_once() {
        let numbers: Vec<u64> = (0..1000).map(|n| n * 7919 % 1009).collect();
        let mut expected = numbers.clone();
        expected.sort_by_key(|number| (number.count_ones(), *number));
        for most in [1, 2, 40, 999, 1000, 5000] {
            assert_eq!(all(most, &numbers), expected, "{most}");
        }
        assert_eq!(all(1, &[]), [0; 0]);
    }
}
