//! Finds out which of sorted records a store has, so that loads and removals keep it a set.

use crate::error::Result;
use crate::extsort::{NumberedRecord, Piece, TextChunk};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::segment::{IdCursor, RankCursor, RecordChunk, Scratch, Segment};
use std::cmp::Ordering;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct RunSegment {
    pub(crate) segment: Arc<Segment>,
    pub(crate) is_tombstones: bool,
}

/// Looks up sorted records in several segments. Reads only the blocks and pages that may have one of the records, and
/// keeps one block and a piece of a page of ids of each segment.
pub(crate) struct MembershipCursor<F> {
    /// Newest first.
    segments: Vec<Reading<F>>,
    scratch: Scratch,
    last: Option<F>,
    /// In a store without ids, the records that it has left.
    left: u64,
}

struct Reading<F> {
    segment: Arc<Segment>,
    is_tombstones: bool,
    ranks: RankCursor<F>,
    /// Within the ids of the last fingerprint, if the segment has it.
    ids: IdCursor,
    ids_of: IdsOf,
}

/// The position of the cursor in the ids of a fingerprint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IdsOf {
    /// Unknown, or after the last id.
    Nothing,
    /// Before the first id.
    Begin,
    /// After an id.
    Within,
}

impl<F: Fingerprint> MembershipCursor<F> {
    /// `segments` are newest first.
    pub(crate) fn new(segments: impl Iterator<Item = RunSegment>) -> Self {
        let reading = |RunSegment { segment, is_tombstones }: RunSegment| Reading {
            ids: IdCursor::new(Arc::clone(&segment)),
            segment,
            is_tombstones,
            ranks: RankCursor::default(),
            ids_of: IdsOf::Nothing,
        };
        Self { segments: segments.map(reading).collect(), scratch: Scratch::default(), last: None, left: 0 }
    }

    /// The records of a batch that the segments do not have. Batches come in order. Records without ids are always new.
    pub(crate) fn missing<'b>(&mut self, batch: RecordChunk<'b, F>) -> Result<RecordChunk<'b, F>> {
        if self.segments.is_empty() || batch.is_without_ids() {
            return Ok(batch);
        }
        self.those(batch, false)
    }

    /// The records of a batch that the segments have. Batches come in order. Records without ids come once for each
    /// wanted one; the result has as many as exist.
    pub(crate) fn present<'b>(&mut self, batch: RecordChunk<'b, F>) -> Result<RecordChunk<'b, F>> {
        self.those(batch, true)
    }

    /// Whether the segments have a record. Records come in order; not for counts.
    pub(crate) fn is_there(&mut self, record: &Record<F>) -> Result<bool> {
        self.has(record.fingerprint, |id| id.cmp(&record.id))
    }

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
                    RecordChunk::Numbers(Piece::Owned(keep))
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
                self.all_taken(entries.chunk_by(|a, b| a.fingerprint == b.fingerprint), |entry| entry.fingerprint)?
            }
            RecordChunk::Fingerprints(all) => {
                self.all_taken(all.chunk_by(|a, b| a == b), |&fingerprint| fingerprint)?
            }
            counts @ RecordChunk::Counts(_) => counts,
        })
    }

    /// Takes as many records of each group's fingerprint as it has members, if there are as many.
    fn all_taken<'g, T: 'g>(
        &mut self,
        groups: impl Iterator<Item = &'g [T]>,
        of: impl Fn(&T) -> F,
    ) -> Result<RecordChunk<'static, F>> {
        let mut counts = Vec::new();
        for same in groups {
            let Some(fingerprint) = same.first().map(&of) else { continue };
            let id = self.taken(fingerprint, same.len() as u64)?;
            counts.extend(Some(NumberedRecord { fingerprint, id }).filter(|entry| entry.id > 0));
        }
        Ok(RecordChunk::Counts(counts))
    }

    /// Takes up to `wanted` records of a fingerprint without ids. Returns how many there were.
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

    fn count(&mut self) -> Result<u64> {
        let (mut more, mut less) = (0u64, 0u64);
        for reading in &mut self.segments {
            if reading.ids_of == IdsOf::Nothing {
                continue;
            }
            let count = reading.ids.peek()?.and_then(|(_, id)| id.number()).unwrap_or(0);
            let sum = if reading.is_tombstones { &mut less } else { &mut more };
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

    /// Whether the newest segment with this fingerprint and the id that `order` finds equal has it as a record.
    fn has(&mut self, fingerprint: F, order: impl Fn(&Id) -> Ordering) -> Result<bool> {
        self.find(fingerprint)?;
        for reading in &mut self.segments {
            if reading.has(&order)? {
                return Ok(!reading.is_tombstones);
            }
        }
        Ok(false)
    }
}

impl<F: Fingerprint> Reading<F> {
    fn find(&mut self, fingerprint: F, scratch: &mut Scratch) -> Result<()> {
        self.ids_of = IdsOf::Nothing;
        let table = self.segment.primary_table()?;
        if let Some(rank) = self.ranks.rank_of(fingerprint, table, scratch)? {
            self.ids.seek(rank)?;
            self.ids_of = IdsOf::Begin;
        }
        Ok(())
    }

    /// Whether the next ids have the one that `order` finds equal. Wanted ids ascend too.
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
