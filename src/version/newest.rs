//! Merges the entries of several sources.

use crate::error::{Error, Result};
use crate::fingerprint::{Entry, Fingerprint, Id, Record};
use crate::segment::SegmentRecords;
use crate::version::loser_tree::Losers;
use std::fmt;

/// The newest entry of every record of several sources, by fingerprint, then id. Ends after the first error.
///
/// In a store without ids, an entry has the sum of all counts of its fingerprint. An entry takes log2(sources)
/// comparisons.
pub(crate) struct NewestEntries<F: Fingerprint> {
    /// Newest first.
    sources: Vec<EntrySource<F>>,
    /// The order of the sources by their next entries; `None` after a source was added.
    order: Option<Losers>,
    failed: Option<(usize, Error)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewestEntry<F: Fingerprint> {
    pub(crate) entry: Entry<F>,
    /// Whether the records of some segment have this record, so that its tables have the fingerprint.
    pub(crate) stored: bool,
}

struct EntrySource<F: Fingerprint> {
    /// The next entry; `None` before the first was read, and at the end.
    next: Option<Entry<F>>,
    entries: Box<dyn Iterator<Item = Result<Entry<F>>> + Send>,
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
    /// Adds records or tombstones of a segment as the oldest source.
    pub(crate) fn add_records(&mut self, records: SegmentRecords<F>, is_tombstone: bool) {
        let entries = records.map(move |record| record.map(|record| Entry { record, is_tombstone }));
        self.add(entries, !is_tombstone);
    }

    /// Adds sorted entries, each record once, as the oldest source.
    pub(crate) fn add_entries(&mut self, entries: Vec<Entry<F>>) {
        self.add(entries.into_iter().map(Ok), false);
    }

    pub(crate) fn live(self) -> impl Iterator<Item = Result<Record<F>>> {
        self.filter_map(|newest| match newest {
            Ok(newest) if newest.entry.is_tombstone => None,
            newest => Some(newest.map(|newest| newest.entry.record)),
        })
    }

    pub(super) fn add(&mut self, entries: impl Iterator<Item = Result<Entry<F>>> + Send + 'static, stored: bool) {
        self.sources.push(EntrySource { next: None, entries: Box::new(entries), stored });
        self.order = None;
    }

    /// Reads the first entry of every new source, and orders the sources.
    fn begin(&mut self) {
        for number in 0..self.sources.len() {
            if self.sources.get(number).is_some_and(|source| source.next.is_none()) {
                self.read(number);
            }
        }
        self.order = Some(Losers::new(self.sources.len(), |a, b| is_before(&self.sources, a, b)));
    }

    /// Takes the next entry of a source and reads the one after it.
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

    /// The newest source with the least next record; `None` at the end.
    fn least(&self) -> Option<usize> {
        let number = self.order.as_ref()?.winner();
        self.sources.get(number)?.next.is_some().then_some(number)
    }

    /// Takes the next entry of [`NewestEntries::least`], and whether that source is stored.
    fn take(&mut self) -> Option<(Entry<F>, bool)> {
        let number = self.least()?;
        let entry = self.read(number)?;
        let sources = &self.sources;
        if let Some(order) = &mut self.order {
            order.replay(|a, b| is_before(sources, a, b));
        }
        Some((entry, sources.get(number)?.stored))
    }

    /// Adds the counts of a fingerprint in all sources; `None` if the sum is 0 and no table has it.
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
        // With a sum of 0, the fingerprint has to leave the tables.
        if more == less && !stored {
            return None;
        }
        let record = Record { fingerprint, id: Id::Count(more.abs_diff(less)) };
        Some(NewestEntry { entry: Entry { record, is_tombstone: less >= more }, stored })
    }

    fn next_record(&self) -> Option<&Record<F>> {
        self.sources.get(self.least()?)?.record()
    }
}

/// Whether source `a` comes before source `b`: by their next records, then by age, newest first. Sources at their end
/// come last.
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
        if let ([source @ EntrySource { next: None, stored: true, .. }], None) = (&mut *self.sources, &self.order) {
            // The records of one segment are what they are merged to.
            let entry = source.entries.next();
            if !matches!(entry, Some(Ok(_))) {
                self.sources.clear();
            }
            return Some(entry?.map(|entry| NewestEntry { entry, stored: true }));
        }
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
                    Some(newest) => return Some(Ok(newest)),
                }
            }
            // Older entries of the record are superseded.
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
