//! Sorted records on their way to a segment, some millions at a time.

use crate::error::{Error, Result};
use crate::extsort::{NumberedRecord, TextChunk, drop_equal, fingerprints};
use crate::fingerprint::{Fingerprint, Id, Record};
use rayon::prelude::*;
use std::borrow::Cow;

/// Records that are sorted by fingerprint, then id, and distinct, over all chunks of a load. A fingerprint may go on in
/// the next batch.
#[derive(Debug)]
pub(crate) enum RecordChunk<'a, F: Fingerprint> {
    /// Records whose ids are numbers.
    Numbers(Cow<'a, [NumberedRecord<F>]>),
    /// Records without ids; the numbers say in which order they came.
    Unnumbered(Cow<'a, [NumberedRecord<F>]>),
    /// Fingerprints and how many records each of them has.
    Counts(Vec<NumberedRecord<F>>),
    /// Records whose ids are texts.
    Texts(TextChunk<F>),
}

impl<F: Fingerprint> RecordChunk<'_, F> {
    /// The fingerprints in it that differ from the one before, which for the first of them is `previous`.
    pub(crate) fn distinct(&self, previous: Option<F>) -> Vec<F> {
        let mut all: Vec<F> = match self {
            Self::Numbers(entries) | Self::Unnumbered(entries) => fingerprints(entries),
            Self::Counts(entries) => fingerprints(entries),
            Self::Texts(chunk) => chunk.entries.par_iter().map(|entry| entry.0).collect(),
        };
        drop_equal(&mut all);
        if previous.is_some() && all.first().copied() == previous {
            all.remove(0);
        }
        all
    }

    /// The records one by one; of those without ids, none.
    pub(crate) fn into_records<'a>(self) -> Box<dyn Iterator<Item = Result<Record<F>>> + 'a>
    where
        Self: 'a,
    {
        match self {
            Self::Numbers(entries) => Box::new((0..entries.len()).filter_map(move |number| {
                let &NumberedRecord { fingerprint, id } = entries.get(number)?;
                Some(Ok(Record { fingerprint, id: Id::Number(id) }))
            })),
            Self::Texts(chunk) => Box::new((0..chunk.len()).filter_map(move |number| {
                let entry = chunk.entries.get(number)?;
                let text = std::str::from_utf8(chunk.text(entry));
                let text = text.map_err(|_| Error::damaged("temporary data hold no text"));
                Some(text.map(|text| Record { fingerprint: entry.0, id: text.into() }))
            })),
            Self::Unnumbered(_) | Self::Counts(_) => Box::new(std::iter::empty()),
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Numbers(entries) | Self::Unnumbered(entries) => entries.is_empty(),
            Self::Counts(entries) => entries.is_empty(),
            Self::Texts(chunk) => chunk.len() == 0,
        }
    }

    /// Number of records; of counts that add up to more than a number can say, the greatest number.
    pub(crate) fn records(&self) -> u64 {
        match self {
            Self::Numbers(entries) | Self::Unnumbered(entries) => entries.len() as u64,
            Self::Counts(entries) => entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.id)),
            Self::Texts(chunk) => chunk.len() as u64,
        }
    }
}

/// Bytes of a batch that is made of single records, where there is memory enough.
const BATCH: u64 = 64 << 20;

/// Gathers records, which come in order, to chunks. They take `memory` bytes at most, short of a single record.
pub(crate) fn chunks<F: Fingerprint>(
    mut records: impl Iterator<Item = Result<Record<F>>>,
    memory: u64,
) -> impl Iterator<Item = Result<RecordChunk<'static, F>>> {
    // Lists that grow are copied to twice the room.
    let most = usize::try_from(BATCH.min(memory / 3)).unwrap_or(usize::MAX);
    std::iter::from_fn(move || {
        let (mut numbers, mut counted, mut texts) = (Vec::new(), false, TextChunk::default());
        while numbers.len() * size_of::<NumberedRecord<F>>() + texts.bytes() < most || numbers.len() + texts.len() == 0
        {
            match records.next() {
                None => break,
                Some(Err(error)) => {
                    // What came before it is not written either.
                    return Some(Err(error));
                }
                Some(Ok(Record { fingerprint, id })) => match id {
                    Id::Number(id) => numbers.push(NumberedRecord { fingerprint, id }),
                    Id::Count(id) => {
                        counted = true;
                        numbers.push(NumberedRecord { fingerprint, id });
                    }
                    Id::Text(text) => texts.push(fingerprint, text.as_bytes()),
                },
            }
        }
        match (numbers.is_empty(), texts.len()) {
            (true, 0) => None,
            (true, _) => Some(Ok(RecordChunk::Texts(texts))),
            (false, _) if counted => Some(Ok(RecordChunk::Counts(numbers))),
            (false, _) => Some(Ok(RecordChunk::Numbers(Cow::Owned(numbers)))),
        }
    })
}
