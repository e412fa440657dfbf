//! Leaving out what a store has already, so that it stays a set.

use super::batch::Batch;
use super::external::TextChunk;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id};
use crate::segment::{IdCursor, Scratch, Segment};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// Knows the records of some segments. It is asked for records in order, and keeps no more of each segment than one block
/// of fingerprints and one page of ids; only blocks and pages that may hold one of the records are read.
pub(crate) struct Present<'a, F> {
    segments: Vec<Reading<'a, F>>,
    scratch: Scratch,
    /// The fingerprint that was asked for last.
    last: Option<F>,
}

/// What was read of a segment last.
struct Reading<'a, F> {
    segment: &'a Segment,
    /// The number of a block of the first table and its fingerprints.
    block: usize,
    fingerprints: Vec<F>,
    /// Stands within the ids of the fingerprint that was asked for last, if the segment has it.
    ids: IdCursor<'a>,
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

impl<'a, F: Fingerprint> Present<'a, F> {
    pub(crate) fn new(segments: &'a [Arc<Segment>]) -> Self {
        let reading = |segment: &'a Arc<Segment>| Reading {
            segment,
            block: usize::MAX,
            fingerprints: Vec::new(),
            ids: IdCursor::new(segment.ids()),
            ids_of: IdsOf::Nothing,
        };
        Self { segments: segments.iter().map(reading).collect(), scratch: Scratch::default(), last: None }
    }

    /// What of a batch is not there. Batches come in order.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading the segments.
    pub(crate) fn missing<'b>(&mut self, batch: Batch<'b, F>) -> Result<Batch<'b, F>> {
        if self.segments.is_empty() {
            return Ok(batch);
        }
        Ok(match batch {
            Batch::Numbers(entries) => {
                let mut keep = Vec::with_capacity(entries.len());
                for entry in &*entries {
                    if !self.has(entry.fingerprint, |id| id.cmp(&Id::Number(entry.id)))? {
                        keep.push(*entry);
                    }
                }
                if keep.len() == entries.len() { Batch::Numbers(entries) } else { Batch::Numbers(Cow::Owned(keep)) }
            }
            Batch::Texts(chunk) => {
                let mut keep = TextChunk::default();
                for (fingerprint, text) in chunk.records() {
                    if !self.has(fingerprint, |id| id.text().unwrap_or_default().as_bytes().cmp(text))? {
                        keep.push(fingerprint, text);
                    }
                }
                Batch::Texts(keep)
            }
            // They are new by definition.
            other @ (Batch::Unnumbered(_) | Batch::Counts(_)) => other,
        })
    }

    /// Whether any record of a batch is there; of fingerprints that come without ids, any of them. Batches come in order.
    ///
    /// # Errors
    /// As [`Present::missing`].
    pub(crate) fn any(&mut self, batch: Batch<'_, F>) -> Result<bool> {
        match &batch {
            Batch::Unnumbered(entries) => {
                for entry in &**entries {
                    if self.has(entry.fingerprint, |_| Ordering::Equal)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => {
                let all = batch.records();
                Ok(self.missing(batch)?.records() < all)
            }
        }
    }

    /// Whether a segment has a record: this fingerprint with the id that `order` says is the one.
    fn has(&mut self, fingerprint: F, order: impl Fn(&Id) -> Ordering) -> Result<bool> {
        if self.last.replace(fingerprint) != Some(fingerprint) {
            for reading in &mut self.segments {
                reading.find(fingerprint, &mut self.scratch)?;
            }
        }
        for reading in &mut self.segments {
            if reading.has(&order)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<F: Fingerprint> Reading<'_, F> {
    /// Moves to the ids of a fingerprint, if the segment has it.
    fn find(&mut self, fingerprint: F, scratch: &mut Scratch) -> Result<()> {
        self.ids_of = IdsOf::Nothing;
        let table = self.segment.first_table()?;
        let index = table.index();
        // Several pages of rows may begin with the same 64 bits.
        for number in index.find(fingerprint.word(0))..index.len() {
            if self.block != number {
                table.fingerprints(number, scratch, &mut self.fingerprints)?;
                self.block = number;
            }
            if let Ok(position) = self.fingerprints.binary_search(&fingerprint) {
                self.ids.seek(index.rank(number) + position as u64)?;
                self.ids_of = IdsOf::Begin;
                break;
            }
            if self.fingerprints.last().is_none_or(|&last| last >= fingerprint) {
                break;
            }
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
