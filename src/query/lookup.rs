//! What a store says of a fingerprint, a record or an id that is known.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Match, distance};
use crate::query::hit::HitPlace;
use crate::query::view_searcher::{ViewSearcher, in_order};
use crate::segment::{IdScratch, id_hash};
use std::ops::ControlFlow;
use std::sync::Arc;

impl ViewSearcher {
    /// All places where a fingerprint is, newest first.
    pub(crate) fn places_of<F: Fingerprint>(&mut self, fingerprint: F) -> Result<Vec<(F, HitPlace)>> {
        let mut places = Vec::new();
        for (number, (memtable, _)) in self.state.memtables().enumerate() {
            places.extend(memtable.find(fingerprint).map(|entry| (fingerprint, HitPlace::Memtable(number, entry))));
        }
        places.reverse();
        let view = Arc::clone(&self.state.view);
        for (number, segment) in view.segments.iter().enumerate().rev() {
            if let Some(rank) = segment.rank_of(fingerprint, &mut self.prober.scratch)? {
                places.push((fingerprint, HitPlace::Segment(number, Some(rank))));
            }
        }
        Ok(places)
    }

    /// The ids of a fingerprint, in order, or their count.
    pub(crate) fn ids_of<F: Fingerprint>(&mut self, fingerprint: F) -> Result<Vec<Id>> {
        let mut ids = Vec::new();
        let places = self.places_of(fingerprint)?;
        self.live_ids(fingerprint, &places, &mut |id| ids.push(id))?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// The records of a fingerprint as matches of a query, in order.
    pub(crate) fn records_of<F: Fingerprint>(&mut self, query: F, fingerprint: F) -> Result<Vec<Match<F>>> {
        let distance = distance(fingerprint, query);
        let ids = self.ids_of(fingerprint)?.into_iter();
        Ok(in_order(ids.map(|id| Match { distance, fingerprint, id }).collect()))
    }

    /// The fingerprints of an id, in order.
    ///
    /// # Errors
    /// Those of [`Asking::each_fingerprint_of`].
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

    /// Calls `visit` with the fingerprints of an id, in any order; one that several runs have may come several times. Keeps none
    /// of them: one id may have millions.
    ///
    /// # Errors
    /// `Unsupported` if the store has no id index; `Damaged` or `Io` from reading; those of `visit`.
    pub(crate) fn each_fingerprint_of<F: Fingerprint>(
        &mut self,
        id: &Id,
        visit: &mut dyn FnMut(F) -> Result<()>,
    ) -> Result<()> {
        self.context.check_id_index()?;
        // Hashes meet, and records go.
        let mut visit_live = |searcher: &mut Self, fingerprint| match searcher.has(fingerprint, id)? {
            true => visit(fingerprint),
            false => Ok(()),
        };
        let in_memory = self.state.memtables();
        let in_memory = in_memory.map(|(memtable, visible)| (Arc::clone(memtable), visible)).collect::<Vec<_>>();
        for (memtable, visible) in in_memory {
            for entry in memtable.entries_of_id(id, visible) {
                visit_live(self, memtable.fingerprint(entry))?;
            }
        }
        let (view, mut ids) = (Arc::clone(&self.state.view), IdScratch::default());
        for run in &view.runs {
            let (Some(index), Some(records)) = (&run.id_index, &run.records) else { continue };
            let hash = id_hash(id, records.footer().records);
            let Some(rank) = index.rank_of(hash, &mut self.prober.scratch)? else { continue };
            let table = records.first_table()?;
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
