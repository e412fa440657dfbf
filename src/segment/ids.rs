//! The ids of a segment, whatever they are.

use super::file::SegmentFile;
use super::id_reader::IdReader;
use super::text_ids::{TextIds, TextScratch};
use crate::error::Result;
use crate::fingerprint::{Id, IdKind};
use crate::format::footer::Footer;
use std::sync::Arc;

/// Finds the ids of a fingerprint by its rank in the first table.
#[derive(Debug)]
pub(crate) enum Ids {
    /// Numbers.
    Numbers(IdReader),
    /// None: how many records each fingerprint has.
    Counts(IdReader),
    /// Texts.
    Texts(TextIds),
}

/// Buffers that reading ids reuses.
#[derive(Debug, Default)]
pub(crate) struct IdScratch {
    page: Vec<u8>,
    numbers: Vec<u64>,
    text: TextScratch,
    texts: Vec<Box<str>>,
}

impl Ids {
    /// Reads what describes the ids of a segment.
    pub(super) fn open(file: &Arc<SegmentFile>, footer: &Footer) -> Result<Self> {
        let numbers = || IdReader::open(file, footer.ids, footer.id_index);
        Ok(match footer.parameters.ids() {
            IdKind::Number => Self::Numbers(numbers()?),
            IdKind::None => Self::Counts(numbers()?),
            IdKind::Text => Self::Texts(TextIds::open(file, footer.ids, footer.id_index, footer.id_dictionary)?),
        })
    }

    /// Number of fingerprints that have ids.
    pub(super) fn fingerprints(&self) -> u64 {
        match self {
            Self::Numbers(reader) | Self::Counts(reader) => reader.fingerprints(),
            Self::Texts(reader) => reader.fingerprints(),
        }
    }

    /// Bytes of memory.
    pub(crate) fn resident_bytes(&self) -> u64 {
        match self {
            Self::Numbers(reader) | Self::Counts(reader) => reader.resident_bytes(),
            Self::Texts(reader) => reader.resident_bytes(),
        }
    }

    /// Number of pages or frames.
    pub(super) fn page_count(&self) -> u64 {
        match self {
            Self::Numbers(reader) | Self::Counts(reader) => reader.page_count(),
            Self::Texts(reader) => reader.frame_count(),
        }
    }

    /// The page or frame in which the fingerprint with this rank in the first table begins, and how many begin before it
    /// there.
    ///
    /// # Errors
    /// `Damaged` if there is no such fingerprint.
    pub(super) fn place_of(&self, rank: u64) -> Result<(u64, usize)> {
        match self {
            Self::Numbers(reader) | Self::Counts(reader) => reader.place_of(rank),
            Self::Texts(reader) => reader.place_of(rank),
        }
    }

    /// Calls `visit` with all ids of a page or frame, and whether each begins a fingerprint.
    ///
    /// # Errors
    /// `Damaged` if it is, or does not agree with the index; `Io`.
    pub(super) fn page(&self, number: u64, scratch: &mut IdScratch, mut visit: impl FnMut(bool, Id)) -> Result<()> {
        let (reader, id): (_, fn(u64) -> Id) = match self {
            Self::Numbers(reader) => (reader, Id::Number),
            Self::Counts(reader) => (reader, Id::Count),
            Self::Texts(reader) => {
                return reader.with_frame(number, &mut scratch.text, |frame| {
                    frame.iter().for_each(|(begins, text)| visit(begins, text.into()));
                    Ok(())
                });
            }
        };
        let IdScratch { page: buffer, numbers, .. } = scratch;
        reader.with_whole_page(number, buffer, |page| {
            numbers.clear();
            page.append_ids(0..page.records(), numbers)?;
            (0..).zip(&*numbers).for_each(|(record, &number)| visit(page.begins(record), id(number)));
            Ok(())
        })
    }

    /// Number of pages or frames that the ids of the fingerprint with this rank are in, or one more.
    ///
    /// # Errors
    /// `Damaged` if there is no such fingerprint.
    pub(crate) fn pages_of(&self, rank: u64) -> Result<u64> {
        let (first, _) = self.place_of(rank)?;
        let next = if rank + 1 < self.fingerprints() { self.place_of(rank + 1)?.0 + 1 } else { self.page_count() };
        Ok(next.saturating_sub(first))
    }

    /// Calls `visit` with the ids of the fingerprint with this rank in the first table, in ascending order, or with
    /// their count.
    ///
    /// # Errors
    /// `Damaged` if pages and index contradict each other; `Io`.
    pub(crate) fn ids_of(&self, rank: u64, scratch: &mut IdScratch, mut visit: impl FnMut(Id)) -> Result<()> {
        let (reader, id): (_, fn(u64) -> Id) = match self {
            Self::Numbers(reader) => (reader, Id::Number),
            Self::Counts(reader) => (reader, Id::Count),
            Self::Texts(reader) => {
                scratch.texts.clear();
                reader.ids_of(rank, &mut scratch.text, &mut scratch.texts)?;
                scratch.texts.drain(..).for_each(|text| visit(Id::Text(text)));
                return Ok(());
            }
        };
        scratch.numbers.clear();
        reader.ids_of(rank, &mut scratch.page, &mut scratch.numbers)?;
        scratch.numbers.iter().for_each(|&number| visit(id(number)));
        Ok(())
    }
}
