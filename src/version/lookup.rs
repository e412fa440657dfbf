//! Looks up the ids of fingerprints.

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id};
use crate::segment::{IdCursor, IdScratch, Scratch, Segment};
use std::collections::HashMap;
use std::sync::Arc;

const REMEMBERED: usize = 2 << 20;
const PIECE: usize = 1 << 14;

/// Finds the ids of fingerprints in all segments of a store, and remembers some.
#[derive(Debug)]
pub(crate) struct IdLookup<'a, F> {
    segments: &'a [Arc<Segment>],
    scratch: Scratch,
    ids: IdScratch,
    remembered: HashMap<F, Arc<[Id]>>,
    bytes: usize,
}

impl<'a, F: Fingerprint> IdLookup<'a, F> {
    pub(crate) fn new(segments: &'a [Arc<Segment>]) -> Self {
        let (scratch, ids) = Default::default();
        Self { segments, scratch, ids, remembered: HashMap::new(), bytes: 0 }
    }

    pub(crate) fn segments(&self) -> &'a [Arc<Segment>] {
        self.segments
    }

    /// The ids of a stored fingerprint, ascending, or its count; `None` if they are too many for memory.
    pub(crate) fn ids(&mut self, fingerprint: F) -> Result<Option<Arc<[Id]>>> {
        if let Some(ids) = self.remembered.get(&fingerprint) {
            return Ok(Some(Arc::clone(ids)));
        }
        let mut ids = Vec::new();
        let mut found = 0;
        for segment in self.segments {
            if let Some(rank) = segment.rank_of(fingerprint, &mut self.scratch)? {
                if segment.ids().has_many(rank)? {
                    return Ok(None);
                }
                segment.ids().ids_of(rank, &mut self.ids, |id| ids.push(id))?;
                found += 1;
            }
        }
        if found > 1 {
            sort_dedup(&mut ids);
        }
        if found == 0 {
            return Err(Error::damaged("a fingerprint has no ids"));
        }
        let text = |id: &Id| id.text().map_or(0, str::len);
        let bytes = size_of::<F>() + ids.iter().map(|id| size_of::<Id>() + text(id)).sum::<usize>();
        self.bytes += bytes;
        if self.bytes > REMEMBERED {
            self.remembered.clear();
            self.bytes = bytes;
        }
        let ids: Arc<[Id]> = ids.into();
        self.remembered.insert(fingerprint, Arc::clone(&ids));
        Ok(Some(ids))
    }
}

/// Sorts the ids of several segments, each once; adds counts.
fn sort_dedup(ids: &mut Vec<Id>) {
    if ids.iter().all(|id| matches!(id, Id::Count(_))) {
        let sum = ids.iter().filter_map(Id::number).fold(0, u64::saturating_add);
        *ids = vec![Id::Count(sum)];
    }
    ids.sort_unstable();
    ids.dedup();
}

/// Any number of ids of one fingerprint, in pieces.
pub(crate) struct Pieces {
    /// For each segment with the fingerprint, the cursor after its next id, and that id.
    cursors: Vec<(IdCursor, Option<Id>)>,
    /// The only piece, if the store has no ids.
    counts: Vec<Id>,
}

impl Pieces {
    pub(crate) fn new<F: Fingerprint>(segments: &[Arc<Segment>], fingerprint: F) -> Result<Self> {
        let mut scratch = Scratch::default();
        let mut cursors = Vec::new();
        for segment in segments {
            if let Some(rank) = segment.rank_of(fingerprint, &mut scratch)? {
                cursors.push(IdCursor::of_rank(segment, rank)?);
            }
        }
        let mut counts: Vec<Id> =
            cursors.iter().filter_map(|(_, id)| id.clone()).filter(|id| matches!(id, Id::Count(_))).collect();
        if !counts.is_empty() {
            cursors.clear();
            sort_dedup(&mut counts);
        }
        Ok(Self { cursors, counts })
    }

    pub(crate) fn next_piece(&mut self) -> Result<Option<Vec<Id>>> {
        let mut piece = std::mem::take(&mut self.counts);
        while piece.len() < PIECE {
            let Some(least) = self.cursors.iter().filter_map(|(_, id)| id.as_ref()).min().cloned() else { break };
            for (cursor, id) in self.cursors.iter_mut().filter(|(_, id)| id.as_ref() == Some(&least)) {
                *id = cursor.take_same()?;
            }
            piece.push(least);
        }
        Ok(if piece.is_empty() { None } else { Some(piece) })
    }
}
