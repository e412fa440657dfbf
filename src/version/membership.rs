//! What a store has already of records that are to be added or removed, so that it stays a set and counts what it does.

use crate::error::Result;
use crate::extsort::{NumberedRecord, TextChunk};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::segment::{IdCursor, RankCursor, RecordChunk, Scratch, Segment};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// A segment, and whether its records are such that older ones have lost.
#[derive(Clone, Debug)]
pub(crate) struct RunSegment {
    pub(crate) segment: Arc<Segment>,
    pub(crate) removed: bool,
}

/// Knows the records of some segments. It is asked for records in order, and keeps no more of each segment than one block
/// of fingerprints and one page of ids; only blocks and pages that may hold one of the records are read.
pub(crate) struct MembershipCursor<F> {
    /// Newest first.
    segments: Vec<Reading<F>>,
    scratch: Scratch,
    /// The fingerprint that was asked for last.
    last: Option<F>,
    /// Records that it has left, where there are no ids.
    left: u64,
}

/// What was read of a segment last.
struct Reading<F> {
    segment: Arc<Segment>,
    removed: bool,
    ranks: RankCursor<F>,
    /// Stands within the ids of the fingerprint that was asked for last, if the segment has it.
    ids: IdCursor,
    ids_of: IdsOf,
}

/// Where the cursor stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IdsOf {
    /// Nowhere, or behind the fingerprint's ids.
    Nothing,
    /// In front of the first id.
    Begin,
    /// Behind an id.
    Within,
}

impl<F: Fingerprint> MembershipCursor<F> {
    /// Of these segments, newest first.
    pub(crate) fn new(layers: impl Iterator<Item = RunSegment>) -> Self {
        let reading = |RunSegment { segment, removed }: RunSegment| Reading {
            ids: IdCursor::new(Arc::clone(&segment)),
            segment,
            removed,
            ranks: RankCursor::default(),
            ids_of: IdsOf::Nothing,
        };
        Self { segments: layers.map(reading).collect(), scratch: Scratch::default(), last: None, left: 0 }
    }

    /// What of a batch is not there. Batches come in order. Records without ids are new by definition.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading the segments.
    pub(crate) fn missing<'b>(&mut self, batch: RecordChunk<'b, F>) -> Result<RecordChunk<'b, F>> {
        if self.segments.is_empty() || matches!(batch, RecordChunk::Unnumbered(_) | RecordChunk::Counts(_)) {
            return Ok(batch);
        }
        self.those(batch, false)
    }

    /// What of a batch is there, of records without ids as many as are. Batches come in order, and records without ids once for
    /// each that is asked for.
    ///
    /// # Errors
    /// As [`MembershipCursor::missing`].
    pub(crate) fn present<'b>(&mut self, batch: RecordChunk<'b, F>) -> Result<RecordChunk<'b, F>> {
        self.those(batch, true)
    }

    /// Whether a record is there. Records are asked for in order; not for counts.
    ///
    /// # Errors
    /// As [`MembershipCursor::missing`].
    pub(crate) fn is_there(&mut self, record: &Record<F>) -> Result<bool> {
        self.has(record.fingerprint, |id| id.cmp(&record.id))
    }

    /// Those records of a batch that are there, or those that are not.
    fn those<'b>(&mut self, batch: RecordChunk<'b, F>, present: bool) -> Result<RecordChunk<'b, F>> {
        Ok(match batch {
            RecordChunk::Numbers(entries) => {
                let mut keep = Vec::with_capacity(entries.len());
                for entry in &*entries {
                    if self.has(entry.fingerprint, |id| id.cmp(&Id::Number(entry.id)))? == present {
                        keep.push(*entry);
                    }
                }
                if keep.len() == entries.len() {
                    RecordChunk::Numbers(entries)
                } else {
                    RecordChunk::Numbers(Cow::Owned(keep))
                }
            }
            RecordChunk::Texts(chunk) => {
                let mut keep = TextChunk::default();
                for (fingerprint, text) in chunk.records() {
                    if self.has(fingerprint, |id| id.text().unwrap_or_default().as_bytes().cmp(text))? == present {
                        keep.push(fingerprint, text);
                    }
                }
                RecordChunk::Texts(keep)
            }
            RecordChunk::Unnumbered(entries) => {
                let mut counts: Vec<NumberedRecord<F>> = Vec::new();
                for same in entries.chunk_by(|a, b| a.fingerprint == b.fingerprint) {
                    let Some(first) = same.first() else { continue };
                    let id = self.taken(first.fingerprint, same.len() as u64)?;
                    counts.extend(Some(NumberedRecord { id, ..*first }).filter(|entry| entry.id > 0));
                }
                RecordChunk::Counts(counts)
            }
            counts @ RecordChunk::Counts(_) => counts,
        })
    }

    /// How many of `wanted` records of a fingerprint without ids can be taken away: as many as there are. What is taken by one
    /// batch is not there for the next.
    fn taken(&mut self, fingerprint: F, wanted: u64) -> Result<u64> {
        let again = self.last == Some(fingerprint);
        if !again {
            self.find(fingerprint)?;
            self.left = self.count()?;
        }
        let taken = wanted.min(self.left);
        self.left -= taken;
        Ok(taken)
    }

    /// How many records the fingerprint has that was looked for last.
    fn count(&mut self) -> Result<u64> {
        let (mut more, mut less) = (0u64, 0u64);
        for reading in &mut self.segments {
            if reading.ids_of == IdsOf::Nothing {
                continue;
            }
            let count = reading.ids.peek()?.and_then(|(_, id)| id.number()).unwrap_or(0);
            let sum = if reading.removed { &mut less } else { &mut more };
            *sum = sum.saturating_add(count);
        }
        Ok(more.saturating_sub(less))
    }

    fn find(&mut self, fingerprint: F) -> Result<()> {
        if self.last.replace(fingerprint) != Some(fingerprint) {
            for reading in &mut self.segments {
                reading.find(fingerprint, &mut self.scratch)?;
            }
        }
        Ok(())
    }

    /// Whether a record is there: this fingerprint with the id that `order` says is the one. The newest segment that knows
    /// it is believed.
    fn has(&mut self, fingerprint: F, order: impl Fn(&Id) -> Ordering) -> Result<bool> {
        self.find(fingerprint)?;
        for reading in &mut self.segments {
            if reading.has(&order)? {
                return Ok(!reading.removed);
            }
        }
        Ok(false)
    }
}

impl<F: Fingerprint> Reading<F> {
    /// Moves to the ids of a fingerprint, if the segment has it.
    fn find(&mut self, fingerprint: F, scratch: &mut Scratch) -> Result<()> {
        self.ids_of = IdsOf::Nothing;
        let table = self.segment.first_table()?;
        if let Some(rank) = self.ranks.rank_of(fingerprint, table, scratch)? {
            self.ids.seek(rank)?;
            self.ids_of = IdsOf::Begin;
        }
        Ok(())
    }

    /// Whether the ids from here on have the one that `order` says is it; they ascend, as do the ids asked for.
    fn has(&mut self, order: impl Fn(&Id) -> Ordering) -> Result<bool> {
        while self.ids_of != IdsOf::Nothing {
            match self.ids.peek()? {
                Some((begins, id)) if !begins || self.ids_of == IdsOf::Begin => match order(id) {
                    Ordering::Less => {
                        self.ids.advance();
                        self.ids_of = IdsOf::Within;
                    }
                    other => return Ok(other == Ordering::Equal),
                },
                _ => self.ids_of = IdsOf::Nothing,
            }
        }
        Ok(false)
    }
}
