//! The fingerprints nearest to a query, as many as memory allows.

use crate::fingerprint::{Fingerprint, distance};
use crate::query::hit::HitPlace;

/// Places of fingerprints in the order of answers, of each the newest first; and the farthest fingerprint, if there may be more
/// behind it.
pub(crate) type Nearest<F> = (Vec<(F, HitPlace)>, Option<(u32, F)>);

/// Places of the nearest fingerprints behind a first one.
#[derive(Debug)]
pub(crate) struct NearHits<F> {
    query: F,
    /// Answers are behind this one.
    after: Option<(u32, F)>,
    /// Number of fingerprints that are kept.
    most: usize,
    /// The farthest that is kept, once some were dropped.
    limit: Option<(u32, F)>,
    found: Vec<(F, HitPlace)>,
    /// Number of places from which on the farthest are dropped.
    crowded: usize,
}

impl<F: Fingerprint> NearHits<F> {
    /// Keeps about so many bytes, or fewer where fewer fingerprints are wanted.
    pub(crate) fn new(query: F, after: Option<(u32, F)>, wanted: usize, bytes: usize) -> Self {
        /// The list has twice as many places before it is tidied, and grows by doubling.
        const ROOM: usize = 4;
        const LEAST: usize = 64;
        let most = wanted.min((bytes / ROOM / size_of::<(F, HitPlace)>()).max(LEAST));
        Self { query, after, most, limit: None, found: Vec::new(), crowded: most.saturating_mul(2).max(LEAST) }
    }

    /// Takes a place in, unless it is too near or too far.
    pub(crate) fn add(&mut self, fingerprint: F, place: HitPlace) {
        let key = self.key(fingerprint);
        if self.after.is_some_and(|after| key <= after) || self.limit.is_some_and(|limit| key > limit) {
            return;
        }
        self.found.push((fingerprint, place));
        if self.found.len() >= self.crowded {
            self.tidy();
            self.crowded = self.crowded.max(2 * self.found.len());
        }
    }

    /// The greatest distance that is still of interest, if all within `k` are.
    pub(crate) fn reach(&self, k: u32) -> u32 {
        self.limit.map_or(k, |(farthest, _)| farthest.min(k))
    }

    /// What is kept.
    pub(crate) fn finish(mut self) -> Nearest<F> {
        self.tidy();
        (self.found, self.limit)
    }

    fn key(&self, fingerprint: F) -> (u32, F) {
        (distance(fingerprint, self.query), fingerprint)
    }

    /// Puts the places in order, each once, and drops the farthest.
    fn tidy(&mut self) {
        let query = self.query;
        let key = |hit: &(F, HitPlace)| (distance(hit.0, query), hit.0);
        self.found.sort_unstable_by(|a, b| key(a).cmp(&key(b)).then(b.1.cmp(&a.1)));
        self.found.dedup_by(|next, kept| next.0 == kept.0 && next.1.is_with(kept.1));
        let mut kept = self.found.chunk_by(|a, b| a.0 == b.0);
        let places: usize = kept.by_ref().take(self.most).map(<[_]>::len).sum();
        if kept.next().is_some() {
            self.found.truncate(places);
            self.limit = self.found.last().map(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(most: usize, numbers: &[u64]) -> Vec<u64> {
        let (mut after, mut all) = (None, Vec::new());
        loop {
            let mut near = NearHits::new(0u64, after, most, usize::MAX);
            for &number in numbers {
                // Several places, some of them twice.
                for place in
                    [HitPlace::Segment(0, None), HitPlace::Segment(1, Some(number)), HitPlace::Segment(1, None)]
                {
                    near.add(number, place);
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
    fn all_come_in_order_whatever_is_kept_at_once() {
        let numbers: Vec<u64> = (0..1000).map(|n| n * 7919 % 1009).collect();
        let mut expected = numbers.clone();
        expected.sort_by_key(|number| (number.count_ones(), *number));
        for most in [1, 2, 40, 999, 1000, 5000] {
            assert_eq!(all(most, &numbers), expected, "{most}");
        }
        assert_eq!(all(1, &[]), [0; 0]);
    }
}
