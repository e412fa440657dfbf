//! The matches of each query, kept until the file has been read, because answers are in the order of the queries.
//!
//! For a match it keeps the numbers of query and record, and for a matching record its fingerprint and id. Memory is
//! bounded: if it does not suffice, an error suggests a remedy. Counts, one match a query and the nearest N take memory
//! by their number only.

use std::collections::HashSet;

use anyhow::bail;
use fpstore::{Fingerprint, Id, Match};
use fpstore_tools::number;
use rayon::prelude::*;

use super::chunk::{CHUNK, Chunk};
use super::round::Hit;
use super::what::What;
use crate::queries::Query;

/// Most matches of a round of look-ups, if memory is plentiful.
const MOST_HITS: usize = 8 << 20;

/// A query and a record near it.
#[derive(Clone, Copy, Debug)]
struct Found {
    query: u32,
    record: u32,
    distance: u32,
}

/// The matches of all queries.
#[derive(Debug)]
pub(super) struct Gathered<F: Fingerprint> {
    what: What,
    /// For each query, matches must be nearer than this.
    limits: Vec<u32>,
    found: Vec<Found>,
    /// Records that are near some query.
    records: Vec<(F, Id)>,
    counts: Vec<u64>,
    /// Records that were counted, if they are a set.
    counted: HashSet<(F, Id)>,
    /// Bytes of the ids that are texts.
    texts: u64,
    memory: u64,
    /// Number of matches at which the farthest ones are dropped.
    crowded: usize,
}

impl<F: Fingerprint> Gathered<F> {
    /// Bytes of a query without its matches: the query, its limit and its count.
    pub(super) const BYTES_OF_QUERY: u64 = (size_of::<Query<F>>() + size_of::<u32>() + size_of::<u64>()) as u64;

    pub(super) fn new(what: What, queries: usize, distance: u32, memory: u64) -> Self {
        Self {
            what,
            limits: vec![distance + 1; queries],
            found: Vec::new(),
            records: Vec::new(),
            counts: if what == What::Count { vec![0; queries] } else { Vec::new() },
            counted: HashSet::new(),
            texts: 0,
            memory,
            crowded: MOST_HITS / 2,
        }
    }

    /// For each query, the distance from which on matches are not wanted.
    pub(super) fn limits(&self) -> &[u32] {
        &self.limits
    }

    /// Most hits that a round may return.
    pub(super) fn most_hits(&self) -> usize {
        let bytes = usize::try_from(self.memory / 4).unwrap_or(usize::MAX);
        (bytes / size_of::<Hit>()).clamp(1 << 16, MOST_HITS)
    }

    /// Best number of fingerprints to look up together: fewer if each of them may be among the nearest.
    pub(super) fn round(&self) -> usize {
        match self.what {
            What::Nearest(_) => (self.most_hits() / 2 / self.limits.len().max(1)).clamp(8, CHUNK),
            _ => CHUNK,
        }
    }

    /// Adds the hits of the records of a chunk from `first` on.
    pub(super) fn take(&mut self, chunk: &Chunk<F>, first: usize, hits: &[Hit]) -> anyhow::Result<()> {
        for of_record in hits.chunk_by(|a, b| a.place == b.place) {
            let Some(place) = of_record.first().map(|hit| first + hit.place as usize) else { continue };
            if self.what == What::Count {
                self.count(chunk, place, of_record);
            } else {
                self.keep(chunk, place, of_record)?;
            }
        }
        if matches!(self.what, What::Nearest(_)) && (self.found.len() > self.crowded || self.bytes() > self.memory) {
            self.tidy();
            self.crowded = (2 * self.found.len()).max(MOST_HITS / 2);
        }
        if self.bytes() > self.memory {
            bail!(
                "the matches of {} queries take more than the {} of memory left for them: ask fewer queries at \
                 a time, a smaller --distance, or --count, --first or --nearest, or give more --memory",
                number::count(self.limits.len() as u64),
                number::bytes(self.memory)
            );
        }
        Ok(())
    }

    fn count(&mut self, chunk: &Chunk<F>, place: usize, hits: &[Hit]) {
        if chunk.has_ids() {
            let Some(record) = chunk.get(place) else { return };
            let text = text_bytes(&record.1);
            if !self.counted.insert(record) {
                return;
            }
            self.texts += text;
        }
        for hit in hits {
            self.counts.get_mut(hit.query as usize).into_iter().for_each(|count| *count += 1);
        }
    }

    fn keep(&mut self, chunk: &Chunk<F>, place: usize, hits: &[Hit]) -> anyhow::Result<()> {
        let Ok(number) = u32::try_from(self.records.len()) else {
            bail!("more than 2^32 records are near some query; ask fewer queries at a time");
        };
        let before = self.found.len();
        for &Hit { query, distance, .. } in hits {
            let Some(limit) = self.limits.get_mut(query as usize) else { continue };
            if distance < *limit {
                self.found.push(Found { query, record: number, distance });
                if self.what == What::First {
                    *limit = 0;
                }
            }
        }
        if self.found.len() > before {
            let Some(record) = chunk.get(place) else { return Ok(()) };
            self.texts += text_bytes(&record.1);
            self.records.push(record);
        }
        Ok(())
    }

    /// Returns the memory in use; growing lists allocate twice what they need.
    fn bytes(&self) -> u64 {
        let each = [
            (self.found.len(), size_of::<Found>()),
            (self.records.len(), size_of::<(F, Id)>()),
            (self.counted.len(), size_of::<(F, Id)>() + 8),
        ];
        let lists: usize = each.iter().map(|(length, size)| 2 * length * size).sum();
        lists as u64 + self.texts
    }

    /// Sorts the matches, removes repeated ones, and drops those that are not among the nearest.
    fn tidy(&mut self) {
        let Self { found, records, .. } = self;
        let record = |found: &Found| records.get(found.record as usize);
        found.par_sort_unstable_by(|a, b| {
            (a.query, a.distance).cmp(&(b.query, b.distance)).then_with(|| record(a).cmp(&record(b)))
        });
        found.dedup_by(|a, b| a.query == b.query && record(a) == record(b));
        if let What::Nearest(most) = self.what {
            let (mut query, mut rank) = (None, 0);
            let limits = &mut self.limits;
            found.retain(|found| {
                rank = if query == Some(found.query) { rank + 1 } else { 0 };
                query = Some(found.query);
                if rank + 1 == most {
                    // A match at the same distance may come before it in the order.
                    limits.get_mut(found.query as usize).into_iter().for_each(|limit| *limit = found.distance + 1);
                }
                rank < most
            });
            self.drop_records();
        }
    }

    /// Drops the records that no match refers to.
    fn drop_records(&mut self) {
        let mut numbers: Vec<u32> = vec![0; self.records.len()];
        for found in &self.found {
            numbers.get_mut(found.record as usize).into_iter().for_each(|number| *number = 1);
        }
        let mut named = numbers.iter();
        self.records.retain(|_| named.next() == Some(&1));
        let mut next = 0;
        for number in &mut numbers {
            let is_named = std::mem::replace(number, next);
            next += is_named;
        }
        for found in &mut self.found {
            found.record = numbers.get(found.record as usize).copied().unwrap_or(0);
        }
        self.texts = self.records.iter().map(|(_, id)| text_bytes(id)).sum();
    }

    /// Sorts the matches. The caller calls it after the last [`Self::take`] and before [`Self::matches`].
    pub(super) fn finish(&mut self) {
        self.tidy();
    }

    /// Whether the ids of matches are texts.
    pub(super) fn has_texts(&self) -> bool {
        self.records.first().is_some_and(|(_, id)| id.text().is_some())
    }

    /// Returns the matches of a query, in order, or their number if they were counted.
    pub(super) fn matches(&self, query: u32) -> Vec<Match<F>> {
        if self.what == What::Count {
            let count = self.counts.get(query as usize).copied().filter(|&count| count > 0);
            let counted = |count| Match { distance: 0, fingerprint: F::default(), id: Id::Count(count) };
            return count.map(counted).into_iter().collect();
        }
        let begin = self.found.partition_point(|found| found.query < query);
        let own = self.found.iter().skip(begin).take_while(|found| found.query == query);
        own.filter_map(|found| {
            let (fingerprint, id) = self.records.get(found.record as usize)?.clone();
            Some(Match { distance: found.distance, fingerprint, id })
        })
        .collect()
    }
}

/// Returns the heap bytes of an id: those of a text.
pub(super) fn text_bytes(id: &Id) -> u64 {
    id.text().map_or(0, |text| text.len() as u64 + 16)
}
