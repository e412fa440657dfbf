//! Sorted records on their way to a segment, some millions at a time.

use super::entry::Entry;
use super::external::TextChunk;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Record};
use std::borrow::Cow;

/// Records that are sorted by fingerprint, then id, and distinct, over all batches of a load. A fingerprint may go on in
/// the next batch.
#[derive(Debug)]
pub(crate) enum Batch<'a, F: Fingerprint> {
    /// Records whose ids are numbers.
    Numbers(Cow<'a, [Entry<F>]>),
    /// Records without ids; the numbers say in which order they came.
    Unnumbered(Cow<'a, [Entry<F>]>),
    /// Fingerprints and how many records each of them has.
    Counts(Vec<Entry<F>>),
    /// Records whose ids are texts.
    Texts(TextChunk<F>),
}

impl<F: Fingerprint> Batch<'_, F> {
    /// The fingerprints in it that differ from the one before, which for the first of them is `previous`.
    pub(super) fn distinct(&self, previous: Option<F>) -> Vec<F> {
        fn changes<F: Fingerprint>(previous: Option<F>, all: impl Iterator<Item = F>) -> Vec<F> {
            let mut last = previous;
            all.filter(|&fingerprint| last.replace(fingerprint) != Some(fingerprint)).collect()
        }
        match self {
            Self::Numbers(entries) | Self::Unnumbered(entries) => {
                changes(previous, entries.iter().map(|entry| entry.fingerprint))
            }
            Self::Counts(entries) => changes(previous, entries.iter().map(|entry| entry.fingerprint)),
            Self::Texts(chunk) => changes(previous, chunk.records().map(|(fingerprint, _)| fingerprint)),
        }
    }

    /// Number of records.
    pub(crate) fn records(&self) -> u64 {
        match self {
            Self::Numbers(entries) | Self::Unnumbered(entries) => entries.len() as u64,
            Self::Counts(entries) => entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.id)),
            Self::Texts(chunk) => chunk.len() as u64,
        }
    }
}

/// Records of a batch that is made of single ones.
const BATCH: usize = 1 << 20;
/// Bytes of texts of such a batch.
const BATCH_TEXTS: usize = 64 << 20;

/// Gathers records, which come in order, to batches.
pub(crate) fn batches<F: Fingerprint>(
    mut records: impl Iterator<Item = Result<Record<F>>>,
) -> impl Iterator<Item = Result<Batch<'static, F>>> {
    std::iter::from_fn(move || {
        let (mut numbers, mut counted, mut texts) = (Vec::new(), false, TextChunk::default());
        while numbers.len() + texts.len() < BATCH && texts.texts.len() < BATCH_TEXTS {
            match records.next() {
                None => break,
                Some(Err(error)) => {
                    // What came before it is not written either.
                    return Some(Err(error));
                }
                Some(Ok(Record { fingerprint, id })) => match id {
                    Id::Number(id) => numbers.push(Entry { fingerprint, id }),
                    Id::Count(id) => {
                        counted = true;
                        numbers.push(Entry { fingerprint, id });
                    }
                    Id::Text(text) => texts.push(fingerprint, text.as_bytes()),
                },
            }
        }
        match (numbers.is_empty(), texts.len()) {
            (true, 0) => None,
            (true, _) => Some(Ok(Batch::Texts(texts))),
            (false, _) if counted => Some(Ok(Batch::Counts(numbers))),
            (false, _) => Some(Ok(Batch::Numbers(Cow::Owned(numbers)))),
        }
    })
}
