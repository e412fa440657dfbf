//! What a store says of a fingerprint, a record or an id that is known.

use super::hits::Place;
use super::{Asking, in_order};
use crate::bulk::id_hash;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Match, distance};
use std::sync::Arc;

impl<F: Fingerprint> Asking<F> {
    /// All places where a fingerprint is, newest first.
    pub(super) fn places_of(&mut self, fingerprint: F) -> Result<Vec<(F, Place)>> {
        let mut places = Vec::new();
        for (number, (memtable, _)) in self.state.memtables().enumerate() {
            places.extend(memtable.find(fingerprint).map(|entry| (fingerprint, Place::Memtable(number, entry))));
        }
        places.reverse();
        let view = Arc::clone(&self.state.view);
        for (number, segment) in view.segments.iter().enumerate().rev() {
            if let Some(rank) = segment.rank_of(fingerprint, &mut self.prober.scratch)? {
                places.push((fingerprint, Place::Segment(number, Some(rank))));
            }
        }
        Ok(places)
    }

    /// The ids of a fingerprint, in order, or their count.
    pub(in crate::store) fn ids_of(&mut self, fingerprint: F) -> Result<Vec<Id>> {
        let mut ids = Vec::new();
        let places = self.places_of(fingerprint)?;
        self.live_ids(fingerprint, &places, &mut |id| ids.push(id))?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// The records of a fingerprint as matches of a query, in order.
    pub(super) fn records_of(&mut self, query: F, fingerprint: F) -> Result<Vec<Match<F>>> {
        let distance = distance(fingerprint, query);
        let ids = self.ids_of(fingerprint)?.into_iter();
        Ok(in_order(ids.map(|id| Match { distance, fingerprint, id }).collect()))
    }

    /// The fingerprints of an id, in order.
    ///
    /// # Errors
    /// `Unsupported` if the store has no id index; `Damaged` or `Io` from reading.
    pub(in crate::store) fn fingerprints_of(&mut self, id: &Id) -> Result<Vec<F>> {
        self.common.check_id_index()?;
        let mut candidates: Vec<F> = Vec::new();
        for (memtable, visible) in self.state.memtables() {
            candidates.extend(memtable.entries_of_id(id, visible).map(|entry| memtable.fingerprint(entry)));
        }
        let view = Arc::clone(&self.state.view);
        for run in &view.runs {
            let (Some(index), Some(records)) = (&run.id_index, &run.records) else { continue };
            let hash = id_hash(id, records.footer().records);
            let Some(rank) = index.rank_of(hash, &mut self.prober.scratch)? else { continue };
            let mut ranks = Vec::new();
            index.ids().ids_of(rank, &mut self.ids, |rank| ranks.extend(rank.number()))?;
            for rank in ranks {
                candidates.push(records.first_table()?.fingerprint_at(rank, &mut self.prober.scratch)?);
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        // Hashes meet, and records go.
        let mut found = Vec::new();
        for fingerprint in candidates {
            if self.has(fingerprint, id)? {
                found.push(fingerprint);
            }
        }
        Ok(found)
    }
}
