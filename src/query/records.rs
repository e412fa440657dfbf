//! Whether a record is there, and which few records a fingerprint has, without reading all of them: one fingerprint may have
//! millions.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, IdKind, Match, distance};
use crate::memtable::Memtable;
use crate::query::hit::HitPlace;
use crate::query::probe::found::Found;
use crate::query::view_searcher::{ViewSearcher, rank_of};
use crate::segment::{IdCursor, Segment};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A part of a state that says something of a fingerprint.
#[derive(Clone, Debug)]
enum RunSegment {
    /// A memtable, how much of it is seen, and the fingerprint's number there.
    Memtable(Arc<Memtable>, u32, u32),
    /// A segment of records, or of tombstones, and the fingerprint's rank in its first table.
    Segment { segment: Arc<Segment>, rank: u64, tombstones: bool },
}

/// All parts of a state that say something of one fingerprint, newest first.
#[derive(Debug)]
pub(crate) struct Layers<F: Fingerprint> {
    fingerprint: F,
    layers: Vec<RunSegment>,
}

/// What is near a record to be, in the order of answers.
pub(crate) struct Near<F: Fingerprint> {
    /// Records with the same id.
    pub(crate) own: Vec<Match<F>>,
    /// Some records with other ids; where there are no ids, fingerprints and their counts.
    pub(crate) duplicates: Vec<Match<F>>,
}

impl ViewSearcher {
    /// The layers of a fingerprint that was found at these places, which are all, newest first.
    pub(crate) fn layers_at<F: Fingerprint>(&mut self, fingerprint: F, places: &[(F, HitPlace)]) -> Result<Layers<F>> {
        let view = Arc::clone(&self.state.view);
        let mut layers = Vec::with_capacity(places.len());
        let mut places = places.iter().map(|place| place.1).peekable();
        while let Some(HitPlace::Memtable(number, entry)) =
            places.next_if(|place| matches!(place, HitPlace::Memtable(..)))
        {
            let memtable = self.state.memtables().nth(number);
            layers
                .extend(memtable.map(|(memtable, visible)| RunSegment::Memtable(Arc::clone(memtable), visible, entry)));
        }
        for (number, run) in view.runs.iter().enumerate().rev() {
            let here = |place: &HitPlace| match place {
                HitPlace::Segment(segment, _) => view.run_of.get(*segment) == Some(&number),
                HitPlace::Memtable(..) => false,
            };
            if let Some(HitPlace::Segment(_, rank)) = places.next_if(here)
                && let Some(segment) = &run.records
            {
                let rank = rank_of(segment, Found { fingerprint, rank }, &mut self.prober.scratch)?;
                layers.push(RunSegment::Segment { segment: Arc::clone(segment), rank, tombstones: false });
            }
            if let Some(segment) = &run.tombstones
                && let Some(rank) = segment.rank_of(fingerprint, &mut self.prober.scratch)?
            {
                layers.push(RunSegment::Segment { segment: Arc::clone(segment), rank, tombstones: true });
            }
        }
        Ok(Layers { fingerprint, layers })
    }

    /// The layers of a fingerprint.
    pub(crate) fn layers_of<F: Fingerprint>(&mut self, fingerprint: F) -> Result<Layers<F>> {
        let places = self.places_of(fingerprint)?;
        self.layers_at(fingerprint, &places)
    }

    /// Whether a record is there. Not for counts.
    pub(crate) fn has<F: Fingerprint>(&mut self, fingerprint: F, id: &Id) -> Result<bool> {
        let layers = self.layers_of(fingerprint)?;
        self.has_in(&layers, id)
    }

    /// Whether a record is there, of a fingerprint with these layers.
    pub(crate) fn has_in<F: Fingerprint>(&mut self, layers: &Layers<F>, id: &Id) -> Result<bool> {
        for layer in &layers.layers {
            if let Some(removed) = self.is_removed(layers.fingerprint, layer, id)? {
                return Ok(!removed);
            }
        }
        Ok(false)
    }

    /// Whether a layer says that a record was removed, or that it is there; `None` if it says nothing of it.
    fn is_removed<F: Fingerprint>(&mut self, fingerprint: F, layer: &RunSegment, id: &Id) -> Result<Option<bool>> {
        match layer {
            RunSegment::Memtable(memtable, visible, _) => Ok(memtable.is_removed(fingerprint, id, *visible)),
            RunSegment::Segment { segment, rank, tombstones } => {
                Ok(segment.ids().has(*rank, id, &mut self.ids)?.then_some(*tombstones))
            }
        }
    }

    /// The ids of some records of a fingerprint, at most so many and another one than `but`; of a store without ids, its count.
    pub(crate) fn some_ids<F: Fingerprint>(
        &mut self,
        layers: &Layers<F>,
        most: usize,
        but: Option<&Id>,
    ) -> Result<Vec<Id>> {
        if self.context.parameters.ids() == IdKind::None {
            return self.ids_of(layers.fingerprint);
        }
        let mut found: Vec<Id> = Vec::new();
        for (number, layer) in layers.layers.iter().enumerate() {
            let newer = layers.layers.get(..number).unwrap_or_default();
            let mut failed = None;
            let mut take = |searcher: &mut Self, id: Id| {
                let is_said = newer.iter().try_fold(false, |said, layer| {
                    Ok(said || searcher.is_removed(layers.fingerprint, layer, &id)?.is_some())
                });
                match is_said {
                    Err(error) => failed = Some(error),
                    Ok(false) if but != Some(&id) => found.push(id),
                    Ok(_) => {}
                }
                if failed.is_some() || found.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let ended = match layer {
                RunSegment::Memtable(memtable, visible, entry) => {
                    memtable.live_ids_of(*entry, *visible).try_for_each(|id| take(self, id))
                }
                RunSegment::Segment { tombstones: true, .. } => ControlFlow::Continue(()),
                RunSegment::Segment { segment, rank, .. } => {
                    let (mut ended, mut ids) = (ControlFlow::Continue(()), std::mem::take(&mut self.ids));
                    let visited = segment.ids().visit_ids(*rank, &mut ids, |id| {
                        ended = take(self, id);
                        ended
                    });
                    self.ids = ids;
                    visited?;
                    ended
                }
            };
            if let Some(error) = failed {
                return Err(error);
            }
            if ended.is_break() {
                break;
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Some record of a fingerprint as the match of a query, if there is any.
    pub(crate) fn some_match<F: Fingerprint>(&mut self, query: F, layers: &Layers<F>) -> Result<Option<Match<F>>> {
        let fingerprint = layers.fingerprint;
        let id = self.some_ids(layers, 1, None)?.pop();
        Ok(id.map(|id| Match { distance: distance(fingerprint, query), fingerprint, id }))
    }

    /// What is near a record to be: records with its own id, and so many others, those of the nearest fingerprints.
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width; `Damaged` or `Io` from reading.
    pub(crate) fn duplicates<F: Fingerprint>(
        &mut self,
        fingerprint: F,
        id: Option<&Id>,
        k: u32,
        most: usize,
    ) -> Result<Near<F>> {
        let hits = self.near(fingerprint, k)?;
        let mut near: Vec<&[(F, HitPlace)]> = hits.chunk_by(|a, b| a.0 == b.0).collect();
        near.sort_by_key(|hits| hits.first().map(|hit| distance(hit.0, fingerprint)));
        let mut found = Near { own: Vec::new(), duplicates: Vec::new() };
        for hits in near {
            let Some(&(other, _)) = hits.first() else { continue };
            let make = |id| Match { distance: distance(other, fingerprint), fingerprint: other, id };
            let layers = self.layers_at(other, hits)?;
            if let Some(id) = id
                && self.has_in(&layers, id)?
            {
                found.own.push(make(id.clone()));
            }
            let left = most.saturating_sub(found.duplicates.len());
            if left > 0 {
                found.duplicates.extend(self.some_ids(&layers, left, id)?.into_iter().map(make));
            }
        }
        Ok(found)
    }
}

/// The ids of a fingerprint that are there, ascending, a page of each layer in memory. Not for counts.
pub(crate) struct OrderedIds {
    /// Newest first.
    sources: Vec<SegmentLookup>,
}

/// What a layer says of ids, ascending.
struct SegmentLookup {
    /// The next id, and whether it was removed.
    next: Option<(Id, bool)>,
    rest: Rest,
}

enum Rest {
    Memtable(std::vec::IntoIter<(Id, bool)>),
    /// A segment of records, or of tombstones.
    Segment(Box<IdCursor>, bool),
}

impl SegmentLookup {
    fn advance(&mut self) -> Result<()> {
        self.next = match &mut self.rest {
            Rest::Memtable(entries) => entries.next(),
            // Where the next fingerprint begins, this one ends.
            Rest::Segment(cursor, removed) => match cursor.peek()? {
                Some((false, _)) => cursor.take()?.map(|(_, id)| (id, *removed)),
                _ => None,
            },
        };
        Ok(())
    }
}

impl OrderedIds {
    pub(crate) fn new<F: Fingerprint>(layers: &Layers<F>) -> Result<Self> {
        let source = |layer: &RunSegment| {
            Ok(match layer {
                RunSegment::Memtable(memtable, visible, entry) => {
                    let mut entries = Vec::new();
                    memtable.entries_of(*entry, *visible, &mut entries);
                    let mut entries = entries.into_iter();
                    SegmentLookup { next: entries.next(), rest: Rest::Memtable(entries) }
                }
                RunSegment::Segment { segment, rank, tombstones } => {
                    let mut cursor = IdCursor::new(Arc::clone(segment));
                    cursor.seek(*rank)?;
                    let next = cursor.take()?.map(|(_, id)| (id, *tombstones));
                    SegmentLookup { next, rest: Rest::Segment(Box::new(cursor), *tombstones) }
                }
            })
        };
        Ok(Self { sources: layers.layers.iter().map(source).collect::<Result<_>>()? })
    }

    /// The next id that the newest layer which knows it does not say to be removed.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub(crate) fn next_id(&mut self) -> Result<Option<Id>> {
        loop {
            let heads = self.sources.iter().filter_map(|source| source.next.as_ref());
            // Of equal ones the first, which is the newest.
            let Some((least, removed)) = heads.min_by(|a, b| a.0.cmp(&b.0)).cloned() else { return Ok(None) };
            for source in &mut self.sources {
                if source.next.as_ref().is_some_and(|(id, _)| *id == least) {
                    source.advance()?;
                }
            }
            if !removed {
                return Ok(Some(least));
            }
        }
    }
}
