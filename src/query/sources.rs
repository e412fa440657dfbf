//! The newest visible entries of one fingerprint, without reading all of them: a fingerprint may have millions of
//! records.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, IdKind};
use crate::memtable::Memtable;
use crate::query::hits::{Hit, HitPlace};
use crate::query::view_searcher::{ViewSearcher, rank_of};
use crate::segment::{IdCursor, Segment};
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A memtable or segment with entries of one fingerprint.
#[derive(Clone, Debug)]
enum Source {
    /// A memtable, how many of its records are visible, and the fingerprint's number in it.
    Memtable(Arc<Memtable>, u32, u32),
    /// A segment of records or of tombstones, and the fingerprint's rank in its primary table.
    Segment { segment: Arc<Segment>, rank: u64, is_tombstone: bool },
}

/// All sources of a state that have entries of one fingerprint, newest first.
#[derive(Debug)]
pub(crate) struct Sources {
    sources: Vec<Source>,
}

impl Sources {
    /// Whether a source has more ids than should be in memory together.
    pub(crate) fn has_many_ids(&self) -> bool {
        self.sources.iter().any(|source| match source {
            Source::Memtable(..) => false,
            Source::Segment { segment, rank, .. } => segment.ids().has_many(*rank).is_ok_and(|has| has),
        })
    }
}

impl ViewSearcher {
    pub(crate) fn sources_at<F: Fingerprint>(&mut self, fingerprint: F, hits: &[Hit<F>]) -> Result<Sources> {
        let view = Arc::clone(&self.view.version);
        let mut sources = Vec::with_capacity(hits.len());
        for &(_, place) in hits {
            if let HitPlace::Memtable(number, entry) = place
                && let Some((memtable, visible)) = self.view.memtables().nth(number)
            {
                sources.push(Source::Memtable(Arc::clone(memtable), visible, entry));
            }
        }
        for (number, run) in view.runs.iter().enumerate().rev() {
            let rank_here = hits.iter().find_map(|&(_, place)| match place {
                HitPlace::Segment(segment, rank) if view.run_of.get(segment) == Some(&number) => Some(rank),
                _ => None,
            });
            if let (Some(segment), Some(rank)) = (&run.records, rank_here) {
                let rank = rank_of(segment, fingerprint, rank, &mut self.prober.scratch)?;
                sources.push(Source::Segment { segment: Arc::clone(segment), rank, is_tombstone: false });
            }
            // The tombstones of a run hide records of older runs only.
            if let Some(segment) = &run.tombstones
                && let Some(rank) = segment.rank_of(fingerprint, &mut self.prober.scratch)?
            {
                sources.push(Source::Segment { segment: Arc::clone(segment), rank, is_tombstone: true });
            }
        }
        Ok(Sources { sources })
    }

    pub(crate) fn sources_of<F: Fingerprint>(&mut self, fingerprint: F) -> Result<Sources> {
        let mut sources = Vec::new();
        for (memtable, visible) in self.view.memtables().rev() {
            let entry = memtable.find(fingerprint);
            sources.extend(entry.map(|entry| Source::Memtable(Arc::clone(memtable), visible, entry)));
        }
        for run in self.view.version.runs.iter().rev() {
            for (segment, is_tombstone) in [(&run.records, false), (&run.tombstones, true)] {
                if let Some(segment) = segment
                    && let Some(rank) = segment.rank_of(fingerprint, &mut self.prober.scratch)?
                {
                    sources.push(Source::Segment { segment: Arc::clone(segment), rank, is_tombstone });
                }
            }
        }
        Ok(Sources { sources })
    }

    /// Whether a record is there, of a fingerprint with these sources. Not for counts.
    pub(crate) fn has_in(&mut self, sources: &Sources, id: &Id) -> Result<bool> {
        for source in &sources.sources {
            if let Some(is_tombstone) = self.entry_in(source, id)? {
                return Ok(!is_tombstone);
            }
        }
        Ok(false)
    }

    /// Whether the entry of a record in a source is a tombstone; `None` if there is no entry.
    fn entry_in(&mut self, source: &Source, id: &Id) -> Result<Option<bool>> {
        match source {
            Source::Memtable(memtable, visible, entry) => Ok(memtable.is_removed(*entry, id, *visible)),
            Source::Segment { segment, rank, is_tombstone } => {
                Ok(segment.ids().has(*rank, id, &mut self.ids)?.then_some(*is_tombstone))
            }
        }
    }

    /// Calls `visit` with the ids of the records, some perhaps several times, or with their count.
    pub(crate) fn live_ids(&mut self, sources: &Sources, visit: &mut dyn FnMut(Id)) -> Result<()> {
        let (mut inserted, mut removed) = (0u64, 0u64);
        let mut hidden = BTreeSet::new();
        let mut take = |id: Id, is_tombstone: bool| match (id, is_tombstone) {
            (Id::Count(count), false) => inserted = inserted.saturating_add(count),
            (Id::Count(count), true) => removed = removed.saturating_add(count),
            (id, true) => _ = hidden.insert(id),
            (id, false) if hidden.contains(&id) => {}
            (id, false) => visit(id),
        };
        for source in &sources.sources {
            match source {
                Source::Memtable(memtable, visible, entry) => {
                    let mut own = Vec::new();
                    memtable.entries_of(*entry, *visible, &mut own);
                    own.into_iter().for_each(|(id, is_tombstone)| take(id, is_tombstone));
                }
                Source::Segment { segment, rank, is_tombstone } => {
                    segment.ids().ids_of(*rank, &mut self.ids, |id| take(id, *is_tombstone))?;
                }
            }
        }
        if self.context.parameters.ids() == IdKind::None && inserted > removed {
            visit(Id::Count(inserted - removed));
        }
        Ok(())
    }

    /// The ids of the records in order, or their count.
    pub(crate) fn all_ids(&mut self, sources: &Sources) -> Result<Vec<Id>> {
        let mut ids = Vec::new();
        self.live_ids(sources, &mut |id| ids.push(id))?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// Up to `most` ids of records, without `but`; in a store without ids, the count.
    pub(crate) fn some_ids(&mut self, sources: &Sources, most: usize, but: Option<&Id>) -> Result<Vec<Id>> {
        if self.context.parameters.ids() == IdKind::None {
            return self.all_ids(sources);
        }
        let mut found: Vec<Id> = Vec::new();
        for (number, source) in sources.sources.iter().enumerate() {
            let newer = sources.sources.get(..number).unwrap_or_default();
            let mut failed = Ok(());
            let mut take = |searcher: &mut Self, id: Id| {
                let is_known = newer
                    .iter()
                    .try_fold(false, |known, source| Ok(known || searcher.entry_in(source, &id)?.is_some()));
                match is_known {
                    Err(error) => failed = Err(error),
                    Ok(false) if but != Some(&id) => found.push(id),
                    Ok(_) => {}
                }
                if failed.is_err() || found.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            match source {
                Source::Memtable(memtable, visible, entry) => {
                    let _ = memtable.live_ids_of(*entry, *visible).try_for_each(|id| take(self, id));
                }
                Source::Segment { is_tombstone: true, .. } => {}
                Source::Segment { segment, rank, .. } => {
                    let mut ids = std::mem::take(&mut self.ids);
                    let visited = segment.ids().visit_ids(*rank, &mut ids, |id| take(self, id));
                    self.ids = ids;
                    visited?;
                }
            }
            failed?;
            if found.len() >= most {
                break;
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// The entries of one source by their ids, and whether each is a tombstone.
type Entries = Peekable<Box<dyn Iterator<Item = Result<(Id, bool)>>>>;

/// Iterates over the ids of the records in order, a piece of a page of each source in memory. Not for counts.
pub(crate) struct OrderedIds {
    /// Newest first.
    sources: Vec<Entries>,
}

impl OrderedIds {
    pub(crate) fn new(sources: &Sources) -> Result<Self> {
        let entries = |source: &Source| -> Result<Entries> {
            let entries: Box<dyn Iterator<Item = _>> = match *source {
                Source::Memtable(ref memtable, visible, entry) => {
                    let mut entries = Vec::new();
                    memtable.entries_of(entry, visible, &mut entries);
                    Box::new(entries.into_iter().map(Ok))
                }
                Source::Segment { ref segment, rank, is_tombstone } => {
                    let (mut cursor, first) = IdCursor::of_rank(segment, rank)?;
                    let rest = std::iter::from_fn(move || cursor.take_same().transpose());
                    let all = first.map(Ok).into_iter().chain(rest);
                    Box::new(all.map(move |id| id.map(|id| (id, is_tombstone))))
                }
            };
            Ok(entries.peekable())
        };
        Ok(Self { sources: sources.sources.iter().map(entries).collect::<Result<_>>()? })
    }
}

impl Iterator for OrderedIds {
    type Item = Result<Id>;

    fn next(&mut self) -> Option<Result<Id>> {
        loop {
            let mut least: Option<(Id, bool)> = None;
            for source in &mut self.sources {
                match source.peek() {
                    // Of equal ids the first counts, which is the newest.
                    Some(Ok(head)) if least.as_ref().is_none_or(|least| head.0 < least.0) => least = Some(head.clone()),
                    Some(Err(_)) => return source.next().map(|entry| entry.map(|(id, _)| id)),
                    _ => {}
                }
            }
            let (least, is_tombstone) = least?;
            for source in &mut self.sources {
                source.next_if(|entry| entry.as_ref().is_ok_and(|(id, _)| *id == least));
            }
            if !is_tombstone {
                return Some(Ok(least));
            }
        }
    }
}
