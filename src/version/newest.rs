//! Records of several sources in one order.

use crate::error::{Error, Result};
use crate::fingerprint::{Entry, Fingerprint, Id, Record};
use crate::segment::{Segment, SegmentRecords};
use crate::version::loser_tree::Losers;
use std::fmt;
use std::sync::Arc;

/// What several sources say of every record, by fingerprint, then id, each once. Ends after the first error.
///
/// Of the same record the newest source is believed. Where there are no ids, counts are added up: what is left is that
/// there are more records of a fingerprint, or less. A record costs as many comparisons as the logarithm of the number of
/// sources.
pub(crate) struct NewestEntries<F: Fingerprint> {
    /// Newest first.
    sources: Vec<EntrySource<F>>,
    /// The order of the sources by their next entries; none before the first record, and after another source was added.
    order: Option<Losers>,
    /// The error of the newest source that has one, to be returned next.
    failed: Option<(usize, Error)>,
}

/// The last word on a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewestEntry<F: Fingerprint> {
    pub(crate) entry: Entry<F>,
    /// Whether the record is among those of some segment, and its fingerprint in all of that one's tables.
    pub(crate) stored: bool,
}

/// Mentions in order.
type Mentions<F> = Box<dyn Iterator<Item = Result<Entry<F>>> + Send>;

struct EntrySource<F: Fingerprint> {
    /// The next entry; none before the first one was read, and behind the last.
    next: Option<Entry<F>>,
    /// Those behind it.
    entries: Mentions<F>,
    /// Whether it is the records of a segment.
    stored: bool,
}

impl<F: Fingerprint> EntrySource<F> {
    fn record(&self) -> Option<&Record<F>> {
        self.next.as_ref().map(|entry| &entry.record)
    }
}

impl<F: Fingerprint> Default for NewestEntries<F> {
    fn default() -> Self {
        Self { sources: Vec::new(), order: None, failed: None }
    }
}

impl<F: Fingerprint> fmt::Debug for NewestEntries<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewestEntries").field("sources", &self.sources.len()).finish_non_exhaustive()
    }
}

impl<F: Fingerprint> NewestEntries<F> {
    /// Adds the records of a segment, or those that it removes, as what is older than all sources so far.
    pub(crate) fn add_segment(&mut self, segment: &Arc<Segment>, removed: bool) {
        self.add_records(SegmentRecords::new(Arc::clone(segment)), removed);
    }

    /// The same with records of a segment that do not begin with its first one.
    pub(crate) fn add_records(&mut self, records: SegmentRecords<F>, removed: bool) {
        let entries = records.map(move |record| record.map(|record| Entry { record, is_tombstone: removed }));
        self.add(entries, !removed);
    }

    /// Adds entries in order, each record once, as what is older than all sources so far.
    pub(crate) fn add_entries(&mut self, entries: Vec<Entry<F>>) {
        self.add(entries.into_iter().map(Ok), false);
    }

    /// Those records alone that are there.
    pub(crate) fn live(self) -> impl Iterator<Item = Result<Record<F>>> {
        self.filter_map(|word| match word {
            Ok(word) if word.entry.is_tombstone => None,
            word => Some(word.map(|word| word.entry.record)),
        })
    }

    /// Adds entries as those of a segment's records, or not.
    pub(crate) fn add(&mut self, entries: impl Iterator<Item = Result<Entry<F>>> + Send + 'static, stored: bool) {
        self.sources.push(EntrySource { next: None, entries: Box::new(entries), stored });
        self.order = None;
    }

    /// Reads the next entry of every source that has none yet, and puts the sources in order.
    fn begin(&mut self) {
        for number in 0..self.sources.len() {
            if self.sources.get(number).is_some_and(|source| source.next.is_none()) {
                self.read(number);
            }
        }
        self.order = Some(Losers::new(self.sources.len(), |a, b| is_before(&self.sources, a, b)));
    }

    /// Takes the next entry of a source and reads the one behind it.
    fn read(&mut self, number: usize) -> Option<Entry<F>> {
        let source = self.sources.get_mut(number)?;
        match source.entries.next().transpose() {
            Ok(next) => std::mem::replace(&mut source.next, next),
            Err(error) => {
                if self.failed.as_ref().is_none_or(|&(newer, _)| number < newer) {
                    self.failed = Some((number, error));
                }
                source.next.take()
            }
        }
    }

    /// The number of the source with the least next record, the newest of those; none behind the last.
    fn least(&self) -> Option<usize> {
        let number = self.order.as_ref()?.winner();
        self.sources.get(number)?.next.is_some().then_some(number)
    }

    /// Takes the entry of the source that [`NewestEntries::least`] tells, and whether that one is stored.
    fn take(&mut self) -> Option<(Entry<F>, bool)> {
        let number = self.least()?;
        let entry = self.read(number)?;
        let sources = &self.sources;
        if let Some(order) = &mut self.order {
            order.replay(|a, b| is_before(sources, a, b));
        }
        Some((entry, sources.get(number)?.stored))
    }

    /// Adds what all sources count of a fingerprint to what one has said; nothing, if that leaves none.
    fn summed(&mut self, first: &Entry<F>, mut stored: bool) -> Option<NewestEntry<F>> {
        let fingerprint = first.record.fingerprint;
        let (mut more, mut less) = (0u64, 0u64);
        let mut add = |entry: &Entry<F>| {
            let sum = if entry.is_tombstone { &mut less } else { &mut more };
            *sum = sum.saturating_add(entry.record.id.number().unwrap_or(0));
        };
        add(first);
        while self.next_record().is_some_and(|next| next.fingerprint == fingerprint) {
            let Some((entry, also)) = self.take() else { break };
            add(&entry);
            stored |= also;
        }
        // What nothing is left of is still a last word: its fingerprint goes.
        if more == less && !stored {
            return None;
        }
        let record = Record { fingerprint, id: Id::Count(more.abs_diff(less)) };
        Some(NewestEntry { entry: Entry { record, is_tombstone: less >= more }, stored })
    }

    /// The least next record.
    fn next_record(&self) -> Option<&Record<F>> {
        self.sources.get(self.least()?)?.record()
    }
}

/// Whether a source comes in front of another: with a lesser record, or as the newer one with the same. Sources at their
/// end come last.
fn is_before<F: Fingerprint>(sources: &[EntrySource<F>], a: usize, b: usize) -> bool {
    let record = |number: usize| sources.get(number).and_then(EntrySource::record);
    match (record(a), record(b)) {
        (Some(left), Some(right)) => left.cmp(right).then(a.cmp(&b)).is_lt(),
        (left, right) => left.is_some() || (right.is_none() && a < b),
    }
}

impl<F: Fingerprint> Iterator for NewestEntries<F> {
    type Item = Result<NewestEntry<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.order.is_none() {
            self.begin();
        }
        loop {
            if let Some((_, error)) = self.failed.take() {
                self.sources.clear();
                return Some(Err(error));
            }
            let mut last = self.least()?;
            let (entry, mut stored) = self.take()?;
            if matches!(entry.record.id, Id::Count(_)) {
                match self.summed(&entry, stored) {
                    None => continue,
                    Some(word) => return Some(Ok(word)),
                }
            }
            // What older sources say of it does not count any more.
            while let Some(older) = self.least().filter(|&older| older > last)
                && self.next_record() == Some(&entry.record)
            {
                stored |= self.take().is_some_and(|(_, also)| also);
                last = older;
            }
            return Some(Ok(NewestEntry { entry, stored }));
        }
    }
}
