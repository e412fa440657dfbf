//! From what tables and memtables have found to the records that are there.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, IdKind, Match, distance};
use crate::query::hit::{HitPlace, Hits};
use crate::query::probe::found::Found;
use crate::query::view_searcher::{ViewSearcher, in_order, rank_of};
use std::collections::BTreeSet;
use std::sync::Arc;

impl ViewSearcher {
    /// The records of what was found near a query, in order.
    pub(crate) fn matches<F: Fingerprint>(
        &mut self,
        query: F,
        hits: Hits<F>,
        has_tombstones: bool,
    ) -> Result<Vec<Match<F>>> {
        let hits = hits.into_sorted();
        let mut matches = Vec::with_capacity(hits.len());
        for hits in hits.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(fingerprint, _)) = hits.first() else { continue };
            let distance = distance(fingerprint, query);
            let mut add = |id| matches.push(Match { distance, fingerprint, id });
            if has_tombstones {
                self.live_ids(fingerprint, hits, &mut add)?;
            } else {
                let mut add = |id, removed: bool| {
                    if !removed {
                        add(id);
                    }
                };
                hits.iter().try_for_each(|&(_, place)| self.ids_at(fingerprint, place, &mut add))?;
            }
        }
        Ok(in_order(matches))
    }

    /// Leaves out of the matches of a query, which are in order, those that were removed.
    pub(crate) fn drop_removed<F: Fingerprint>(&mut self, query: F, matches: &mut Vec<Match<F>>) -> Result<()> {
        let mut left = Vec::with_capacity(matches.len());
        for found in matches.chunk_by(|a, b| a.fingerprint == b.fingerprint) {
            let Some(first) = found.first() else { continue };
            if self.has_tombstone_for(first.fingerprint)? {
                left.append(&mut self.records_of(query, first.fingerprint)?);
            } else {
                left.extend_from_slice(found);
            }
        }
        *matches = left;
        Ok(())
    }

    /// Whether any record of a fingerprint was removed.
    fn has_tombstone_for<F: Fingerprint>(&mut self, fingerprint: F) -> Result<bool> {
        if self.state.memtables().any(|(memtable, _)| memtable.has_tombstones() && memtable.find(fingerprint).is_some())
        {
            return Ok(true);
        }
        for tombstones in Arc::clone(&self.state.view).runs.iter().filter_map(|run| run.tombstones.as_ref()) {
            if tombstones.rank_of(fingerprint, &mut self.prober.scratch)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The rank of a fingerprint in the first table of the segment with this number, where it was found.
    pub(crate) fn rank_at<F: Fingerprint>(&mut self, fingerprint: F, number: usize, rank: Option<u64>) -> Result<u64> {
        match (rank, self.state.view.segments.get(number)) {
            (Some(rank), _) => Ok(rank),
            (None, Some(segment)) => rank_of(segment, Found { fingerprint, rank }, &mut self.prober.scratch),
            (None, None) => Ok(0),
        }
    }

    /// Calls `visit` with what is said of the ids of a fingerprint at a place, and whether they were removed.
    fn ids_at<F: Fingerprint>(
        &mut self,
        fingerprint: F,
        place: HitPlace,
        visit: &mut dyn FnMut(Id, bool),
    ) -> Result<()> {
        match place {
            HitPlace::Segment(number, rank) => {
                let rank = self.rank_at(fingerprint, number, rank)?;
                let Some(segment) = self.state.view.segments.get(number) else { return Ok(()) };
                segment.ids().ids_of(rank, &mut self.ids, |id| visit(id, false))
            }
            HitPlace::Memtable(number, entry) => {
                let mut own = Vec::new();
                if let Some((memtable, visible)) = self.state.memtables().nth(number) {
                    memtable.entries_of(entry, visible, &mut own);
                }
                own.into_iter().for_each(|(id, removed)| visit(id, removed));
                Ok(())
            }
        }
    }

    /// Calls `visit` with the ids of a fingerprint that are there, some perhaps several times, or with their count. `hits` are
    /// all places where it is, newest first.
    pub(crate) fn live_ids<F: Fingerprint>(
        &mut self,
        fingerprint: F,
        hits: &[(F, HitPlace)],
        visit: &mut dyn FnMut(Id),
    ) -> Result<()> {
        let (mut more, mut less) = (0u64, 0u64);
        let mut hidden = BTreeSet::new();
        let mut say = |id: Id, removed: bool, hidden: &mut BTreeSet<Id>| match (id, removed) {
            (Id::Count(count), false) => more = more.saturating_add(count),
            (Id::Count(count), true) => less = less.saturating_add(count),
            (id, true) => _ = hidden.insert(id),
            (id, false) if hidden.contains(&id) => {}
            (id, false) => visit(id),
        };
        let view = Arc::clone(&self.state.view);
        let mut hits = hits.iter().map(|hit| hit.1).peekable();
        // What a memtable says is the last word on each id, so within one the order does not matter.
        while let Some(place) = hits.next_if(|place| matches!(place, HitPlace::Memtable(..))) {
            self.ids_at(fingerprint, place, &mut |id, removed| say(id, removed, &mut hidden))?;
        }
        for (number, run) in view.runs.iter().enumerate().rev() {
            let here = |place: &HitPlace| match place {
                HitPlace::Segment(segment, _) => view.run_of.get(*segment) == Some(&number),
                HitPlace::Memtable(..) => false,
            };
            if let Some(place) = hits.next_if(here) {
                self.ids_at(fingerprint, place, &mut |id, removed| say(id, removed, &mut hidden))?;
            }
            // Of a run's own records none was removed by it: its tombstones are of older ones.
            if let Some(tombstones) = &run.tombstones
                && let Some(rank) = tombstones.rank_of(fingerprint, &mut self.prober.scratch)?
            {
                tombstones.ids().ids_of(rank, &mut self.ids, |id| say(id, true, &mut hidden))?;
            }
        }
        if self.context.parameters.ids() == IdKind::None && more > less {
            visit(Id::Count(more - less));
        }
        Ok(())
    }
}
