//! Finds the records behind keys.

use super::candidates::Candidates;
use crate::error::Result;
use crate::fingerprint::IdRef;
use crate::segment::{IdPlace, IdScratch, RankSearch, Scratch, Segment, TOGETHER};
use std::ops::ControlFlow;

/// A key that a segment of keys has.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyPlace {
    /// Its position among the keys that were looked up.
    pub(super) at: usize,
    pub(super) rank: u64,
    /// Where the numbers of its records are.
    pub(super) records: IdPlace,
}

/// Looks keys up and reuses its buffers.
#[derive(Debug, Default)]
pub(super) struct KeyLookup {
    search: RankSearch,
    scratch: Scratch,
    places: Vec<KeyPlace>,
    /// Where the records of known keys begin that are being fetched.
    awaited: Vec<IdPlace>,
    ids: IdScratch,
    /// About where the last records were.
    near: usize,
}

impl KeyLookup {
    /// Most keys that are looked up at once.
    pub(super) const MOST: usize = TOGETHER;

    /// Calls `visit` with those of some ascending keys that a segment has.
    pub(super) fn find(
        &mut self,
        keys: &[u64],
        segment: &Segment,
        mut visit: impl FnMut(KeyPlace, &mut IdScratch) -> Result<()>,
    ) -> Result<()> {
        let Self { search, scratch, places, ids, near, .. } = self;
        places.clear();
        for found in search.find(segment.primary_table()?, keys, scratch)? {
            let records = segment.ids().prefetch(found.rank, near)?;
            places.push(KeyPlace { at: found.at, rank: found.rank, records });
        }
        places.iter().try_for_each(|&place| visit(place, ids))
    }

    /// Adds the records that have each of some keys, which ascend, to the candidates.
    pub(super) fn add(&mut self, keys: &[u64], segment: &Segment, candidates: &mut Candidates) -> Result<()> {
        keys.chunks(Self::MOST)
            .try_for_each(|keys| self.find(keys, segment, |place, ids| candidates.add_all(segment, place.records, ids)))
    }

    /// Begins to fetch the records of a key of known rank.
    pub(super) fn await_rank(&mut self, rank: u64, segment: &Segment) -> Result<()> {
        self.awaited.push(segment.ids().prefetch(rank, &mut self.near)?);
        Ok(())
    }

    /// Adds the records that are being fetched to the candidates.
    pub(super) fn add_awaited(&mut self, segment: &Segment, candidates: &mut Candidates) -> Result<()> {
        let ids = &mut self.ids;
        self.awaited.drain(..).try_for_each(|records| candidates.add_all(segment, records, ids))
    }
}

/// The number of the only record whose numbers begin here; `None` if there are several.
pub(super) fn only_record(segment: &Segment, records: IdPlace, ids: &mut IdScratch) -> Result<Option<u64>> {
    let (mut number, mut count) = (None, 0);
    segment.ids().visit_at(records, ids, |id| {
        count += 1;
        number = if let (IdRef::Number(id), 1) = (id, count) { Some(id) } else { None };
        if count == 1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(number)
}
