//! Sorted records on their way to a segment, some millions at a time.

use crate::error::{Error, Result};
use crate::extsort::{NumberedRecord, Piece, TextChunk, drop_equal};
use crate::fingerprint::{Fingerprint, Id, Record};
use rayon::prelude::*;

/// Facts about the records that are known in advance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    /// The number of the first record without an id.
    pub(crate) first_number: u64,
    pub(crate) text_bytes: u64,
    pub(crate) at_once: bool,
}

/// Records sorted by fingerprint, then id; those with ids or numbers are distinct over all chunks. The next chunk may continue the last
/// fingerprint.
#[derive(Debug)]
pub(crate) enum RecordChunk<'a, F: Fingerprint> {
    Numbers(Piece<'a, NumberedRecord<F>>),
    /// Records without ids; their numbers give the order in which they came.
    Unnumbered(Piece<'a, NumberedRecord<F>>),
    /// Records without ids and numbers: each of these fingerprints stands for one, equal ones too.
    Fingerprints(Piece<'a, F>),
    Counts(Vec<NumberedRecord<F>>),
    Texts(TextChunk<F>),
}

impl<F: Fingerprint> RecordChunk<'_, F> {
    /// The distinct fingerprints, without a first one equal to `previous`, in the memory of `space`.
    pub(crate) fn distinct(&self, previous: Option<F>, space: Vec<F>) -> Vec<F> {
        let mut all = match self {
            Self::Numbers(entries) | Self::Unnumbered(entries) => collected(entries, |entry| entry.fingerprint, space),
            Self::Fingerprints(all) => collected(all, |&fingerprint| fingerprint, space),
            Self::Counts(entries) => collected(entries, |entry| entry.fingerprint, space),
            Self::Texts(chunk) => collected(&chunk.entries, |entry| entry.0, space),
        };
        drop_equal(&mut all);
        if previous.is_some() && all.first().copied() == previous {
            all.remove(0);
        }
        all
    }

    /// The records one by one; none if they have no ids.
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
            Self::Unnumbered(_) | Self::Fingerprints(_) | Self::Counts(_) => Box::new(std::iter::empty()),
        }
    }

    /// The same records in chunks of at most [`BATCH`] bytes, if they are fingerprints in memory.
    pub(crate) fn pieces(self) -> Vec<Self> {
        match self {
            Self::Fingerprints(Piece::Borrowed(all)) => {
                let pieces = all.chunks(BATCH as usize / size_of::<F>());
                pieces.map(|piece| Self::Fingerprints(Piece::Borrowed(piece))).collect()
            }
            other => vec![other],
        }
    }

    pub(crate) fn is_without_ids(&self) -> bool {
        matches!(self, Self::Unnumbered(_) | Self::Fingerprints(_) | Self::Counts(_))
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Numbers(entries) | Self::Unnumbered(entries) => entries.is_empty(),
            Self::Fingerprints(all) => all.is_empty(),
            Self::Counts(entries) => entries.is_empty(),
            Self::Texts(chunk) => chunk.len() == 0,
        }
    }

    pub(crate) fn records(&self) -> u64 {
        match self {
            Self::Numbers(entries) | Self::Unnumbered(entries) => entries.len() as u64,
            Self::Fingerprints(all) => all.len() as u64,
            Self::Counts(entries) => entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.id)),
            Self::Texts(chunk) => chunk.len() as u64,
        }
    }
}

/// What `of` makes of each item, in the memory of `space`.
fn collected<T: Sync, F: Fingerprint>(items: &[T], of: impl Fn(&T) -> F + Sync + Send, mut space: Vec<F>) -> Vec<F> {
    items.par_iter().map(of).collect_into_vec(&mut space);
    space
}

/// Bytes of a chunk made of single records, if there is enough memory.
const BATCH: u64 = 64 << 20;

/// Gathers sorted records to chunks, which take at most `memory` bytes, or one record.
pub(crate) fn chunks<F: Fingerprint>(
    mut records: impl Iterator<Item = Result<Record<F>>>,
    memory: u64,
) -> impl Iterator<Item = Result<RecordChunk<'static, F>>> {
    // A growing list is copied to twice the space.
    let most = usize::try_from(BATCH.min(memory / 3)).unwrap_or(usize::MAX);
    std::iter::from_fn(move || {
        let (mut numbers, mut counted, mut texts) = (Vec::new(), false, TextChunk::default());
        while numbers.len() * size_of::<NumberedRecord<F>>() + texts.bytes() < most || numbers.len() + texts.len() == 0
        {
            match records.next() {
                None => break,
                Some(Err(error)) => {
                    // The records before it are not written either.
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
            (false, _) => Some(Ok(RecordChunk::Numbers(Piece::Owned(numbers)))),
        }
    })
}
