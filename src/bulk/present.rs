//! Leaving out what a store has already, so that it stays a set.

use super::batch::Batch;
use super::external::TextChunk;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id};
use crate::segment::{IdScratch, Scratch, Segment};
use std::borrow::Cow;
use std::sync::Arc;

/// Knows the records of some segments, and what was read of them last: records come sorted, so the next one often needs
/// the same. Only the blocks that may hold one of their fingerprints are read.
pub(crate) struct Present<'a, F> {
    segments: &'a [Arc<Segment>],
    scratch: Scratch,
    ids: IdScratch,
    /// For each segment the number of a block of its first table and the fingerprints of that block.
    blocks: Vec<(usize, Vec<F>)>,
    /// The fingerprint that was asked for last, and its ids in ascending order.
    last: Option<(F, Vec<Id>)>,
}

impl<'a, F: Fingerprint> Present<'a, F> {
    pub(crate) fn new(segments: &'a [Arc<Segment>]) -> Self {
        let blocks = segments.iter().map(|_| (usize::MAX, Vec::new())).collect();
        Self { segments, scratch: Scratch::default(), ids: IdScratch::default(), blocks, last: None }
    }

    /// What of a batch is not there.
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
                    let number = Id::Number(entry.id);
                    if self.ids_of(entry.fingerprint)?.binary_search(&number).is_err() {
                        keep.push(*entry);
                    }
                }
                if keep.len() == entries.len() { Batch::Numbers(entries) } else { Batch::Numbers(Cow::Owned(keep)) }
            }
            Batch::Texts(chunk) => {
                let mut keep = TextChunk::default();
                for (fingerprint, text) in chunk.records() {
                    let ids = self.ids_of(fingerprint)?;
                    if ids.binary_search_by(|id| id.text().unwrap_or_default().as_bytes().cmp(text)).is_err() {
                        keep.push(fingerprint, text);
                    }
                }
                Batch::Texts(keep)
            }
            // They are new by definition.
            other @ (Batch::Unnumbered(_) | Batch::Counts(_)) => other,
        })
    }

    /// The ids that the segments have for a fingerprint.
    fn ids_of(&mut self, fingerprint: F) -> Result<&[Id]> {
        if self.last.as_ref().is_none_or(|&(last, _)| last != fingerprint) {
            let mut ids = self.last.take().map(|(_, ids)| ids).unwrap_or_default();
            ids.clear();
            for (segment, (block, keys)) in self.segments.iter().zip(&mut self.blocks) {
                let table = segment.first_table()?;
                let index = table.index();
                // Several pages of rows may begin with the same 64 bits.
                for number in index.find(fingerprint.word(0))..index.len() {
                    if *block != number {
                        table.fingerprints(number, &mut self.scratch, keys)?;
                        *block = number;
                    }
                    if let Ok(position) = keys.binary_search(&fingerprint) {
                        let rank = index.rank(number) + position as u64;
                        segment.ids().ids_of(rank, &mut self.ids, |id| ids.push(id))?;
                        break;
                    }
                    if keys.last().is_none_or(|&last| last >= fingerprint) {
                        break;
                    }
                }
            }
            ids.sort_unstable();
            self.last = Some((fingerprint, ids));
        }
        Ok(self.last.as_ref().map_or(&[], |(_, ids)| ids))
    }
}
