//! From hits to the records that are there; the records of a known fingerprint or id.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Match, distance};
use crate::query::hits::{Hit, HitPlace};
use crate::query::view_searcher::{ViewSearcher, in_order, rank_of};
use crate::segment::{IdScratch, id_hash};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The records near a new one, in the order of answers.
pub(crate) struct Near<F: Fingerprint> {
    /// Records with the same id.
    pub(crate) own: Vec<Match<F>>,
    /// Some records with other ids; where there are no ids, fingerprints and their counts.
    pub(crate) duplicates: Vec<Match<F>>,
}

impl ViewSearcher {
    pub(crate) fn matches<F: Fingerprint>(&mut self, query: F, hits: &[Hit<F>]) -> Result<Vec<Match<F>>> {
        let has_tombstones = !self.with_removed && self.view.has_tombstones();
        let mut matches = Vec::with_capacity(hits.len());
        for hits in hits.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(fingerprint, _)) = hits.first() else { continue };
            let distance = distance(fingerprint, query);
            let mut add = |id| matches.push(Match { distance, fingerprint, id });
            if has_tombstones {
                let sources = self.sources_at(fingerprint, hits)?;
                self.live_ids(&sources, &mut add)?;
            } else {
                hits.iter().try_for_each(|&(_, place)| self.ids_at(fingerprint, place, &mut add))?;
            }
        }
        Ok(in_order(matches))
    }

    /// Drops removed records from the matches of a query, which are in order.
    pub(crate) fn drop_removed<F: Fingerprint>(&mut self, matches: &mut Vec<Match<F>>) -> Result<()> {
        let mut left = Vec::with_capacity(matches.len());
        for found in matches.chunk_by(|a, b| a.fingerprint == b.fingerprint) {
            let Some(&Match { distance, fingerprint, .. }) = found.first() else { continue };
            if self.has_tombstone_for(fingerprint)? {
                let ids = self.ids_of(fingerprint)?.into_iter();
                left.extend(ids.map(|id| Match { distance, fingerprint, id }));
            } else {
                left.extend_from_slice(found);
            }
        }
        *matches = left;
        Ok(())
    }

    /// Whether a tombstone may hide a record of a fingerprint.
    fn has_tombstone_for<F: Fingerprint>(&mut self, fingerprint: F) -> Result<bool> {
        if self.view.memtables().any(|(memtable, _)| memtable.has_tombstones() && memtable.find(fingerprint).is_some())
        {
            return Ok(true);
        }
        for tombstones in self.view.version.runs.iter().filter_map(|run| run.tombstones.as_ref()) {
            if tombstones.rank_of(fingerprint, &mut self.prober.scratch)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn ids_at<F: Fingerprint>(&mut self, fingerprint: F, place: HitPlace, visit: &mut dyn FnMut(Id)) -> Result<()> {
        match place {
            HitPlace::Segment(number, rank) => {
                let Some(segment) = self.view.version.segments.get(number) else { return Ok(()) };
                let rank = rank_of(segment, fingerprint, rank, &mut self.prober.scratch)?;
                segment.ids().ids_of(rank, &mut self.ids, visit)
            }
            HitPlace::Memtable(number, entry) => {
                let mut own = Vec::new();
                if let Some((memtable, visible)) = self.view.memtables().nth(number) {
                    memtable.entries_of(entry, visible, &mut own);
                }
                own.into_iter().filter(|(_, is_tombstone)| !is_tombstone).for_each(|(id, _)| visit(id));
                Ok(())
            }
        }
    }

    pub(crate) fn ids_of<F: Fingerprint>(&mut self, fingerprint: F) -> Result<Vec<Id>> {
        let sources = self.sources_of(fingerprint)?;
        self.all_ids(&sources)
    }

    /// Whether a record is there. Not for counts.
    pub(crate) fn has<F: Fingerprint>(&mut self, fingerprint: F, id: &Id) -> Result<bool> {
        let sources = self.sources_of(fingerprint)?;
        self.has_in(&sources, id)
    }

    /// The records near a new one: those with its own id, and up to `most` others, those of the nearest fingerprints.
    pub(crate) fn duplicates<F: Fingerprint>(
        &mut self,
        fingerprint: F,
        id: Option<&Id>,
        k: u32,
        most: usize,
    ) -> Result<Near<F>> {
        let hits = self.hits(fingerprint, k, false)?;
        let mut found = Near { own: Vec::new(), duplicates: Vec::new() };
        for hits in hits.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(other, _)) = hits.first() else { continue };
            let make = |id| Match { distance: distance(other, fingerprint), fingerprint: other, id };
            let sources = self.sources_at(other, hits)?;
            if let Some(id) = id
                && self.has_in(&sources, id)?
            {
                found.own.push(make(id.clone()));
            }
            let left = most.saturating_sub(found.duplicates.len());
            if left > 0 {
                found.duplicates.extend(self.some_ids(&sources, left, id)?.into_iter().map(make));
            }
        }
        Ok(found)
    }

    /// The fingerprints of an id, in order.
    pub(crate) fn fingerprints_of<F: Fingerprint>(&mut self, id: &Id) -> Result<Vec<F>> {
        let mut found = Vec::new();
        self.each_fingerprint_of(id, &mut |fingerprint| {
            found.push(fingerprint);
            Ok(())
        })?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Calls `visit` with the fingerprints of an id, in any order, perhaps several times if several runs have one.
    /// Keeps none of them: an id may have millions. Needs an id index.
    pub(crate) fn each_fingerprint_of<F: Fingerprint>(
        &mut self,
        id: &Id,
        visit: &mut dyn FnMut(F) -> Result<()>,
    ) -> Result<()> {
        self.context.check_id_index()?;
        // Hashes of ids collide, and records may be removed.
        let mut visit_live = |searcher: &mut Self, fingerprint| match searcher.has(fingerprint, id)? {
            true => visit(fingerprint),
            false => Ok(()),
        };
        let in_memory = self.view.memtables();
        let in_memory = in_memory.map(|(memtable, visible)| (Arc::clone(memtable), visible)).collect::<Vec<_>>();
        for (memtable, visible) in in_memory {
            for entry in memtable.entries_of_id(id, visible) {
                visit_live(self, memtable.fingerprint(entry))?;
            }
        }
        let (view, mut ids) = (Arc::clone(&self.view.version), IdScratch::default());
        for run in &view.runs {
            let (Some(index), Some(records)) = (&run.id_index, &run.records) else { continue };
            let hash = id_hash(id.as_ref(), records.footer().records);
            let Some(rank) = index.rank_of(hash, &mut self.prober.scratch)? else { continue };
            let table = records.primary_table()?;
            let mut visited = Ok(());
            let read = index.ids().visit_ids(rank, &mut ids, |rank| {
                let rank = rank.number().unwrap_or(u64::MAX);
                let fingerprint = table.fingerprint_at(rank, &mut self.prober.scratch);
                visited = fingerprint.and_then(|fingerprint| visit_live(self, fingerprint));
                if visited.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            read.and(visited)?;
        }
        Ok(())
    }
}
