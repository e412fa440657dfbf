//! The ids of a segment, whatever they are.

use super::file::SegmentFile;
use super::id_reader::IdReader;
use super::text_ids::{TextIds, TextScratch};
use crate::error::Result;
use crate::fingerprint::{Id, IdKind};
use crate::format::footer::Footer;
use std::ops::{ControlFlow, Range};
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
}

impl IdScratch {
    /// Those of texts.
    pub(super) fn text(&mut self) -> &mut TextScratch {
        &mut self.text
    }
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

    /// The pages or frames that the ids of the fingerprint with this rank may be in, and how many fingerprints begin
    /// before it in the first of them.
    fn pages_from(&self, rank: u64) -> Result<(Range<u64>, usize)> {
        let (first, nth) = self.place_of(rank)?;
        let end = if rank + 1 < self.fingerprints() { self.place_of(rank + 1)?.0 + 1 } else { self.page_count() };
        Ok((first..end, nth))
    }

    /// Number of pages or frames that the ids of the fingerprint with this rank are in, or one more.
    ///
    /// # Errors
    /// `Damaged` if there is no such fingerprint.
    pub(crate) fn pages_of(&self, rank: u64) -> Result<u64> {
        let (pages, _) = self.pages_from(rank)?;
        Ok(pages.end.saturating_sub(pages.start))
    }

    /// The number of ids of the fingerprint with this rank in the first table, or their count.
    ///
    /// # Errors
    /// As [`Ids::visit_ids`].
    pub(crate) fn count(&self, rank: u64, scratch: &mut IdScratch) -> Result<u64> {
        let mut count = 0;
        let mut add = |number| {
            count += number;
            ControlFlow::Continue(())
        };
        match self {
            Self::Numbers(reader) => return reader.count(rank, &mut scratch.page),
            Self::Counts(reader) => reader.visit_ids(rank, &mut scratch.page, add)?,
            Self::Texts(reader) => reader.visit_ids(rank, &mut scratch.text, |_| add(1))?,
        }
        Ok(count)
    }

    /// Whether the fingerprint with this rank in the first table has an id. Reads a number of pages or frames that grows
    /// with the logarithm of those that its ids take. Without ids: true.
    ///
    /// # Errors
    /// `Damaged` if there is no such fingerprint, or pages and index contradict each other; `Io`.
    pub(crate) fn has(&self, rank: u64, id: &Id, scratch: &mut IdScratch) -> Result<bool> {
        match (self, id) {
            (Self::Numbers(reader), &Id::Number(id)) => {
                let (pages, nth) = self.pages_from(rank)?;
                reader.has(pages, nth, id, &mut scratch.page)
            }
            (Self::Texts(reader), Id::Text(id)) => {
                let (frames, nth) = self.pages_from(rank)?;
                reader.has(frames, nth, id, &mut scratch.text)
            }
            (Self::Counts(_), _) => Ok(true),
            (Self::Numbers(_) | Self::Texts(_), _) => Ok(false),
        }
    }

    /// Calls `visit` with the ids of the fingerprint with this rank in the first table, in ascending order, or with
    /// their count, until it breaks. Reads page by page, so what lies behind the last visited id is not read.
    ///
    /// # Errors
    /// `Damaged` if pages and index contradict each other, after the ids in front of the damage were visited; `Io`.
    pub(crate) fn visit_ids(
        &self,
        rank: u64,
        scratch: &mut IdScratch,
        mut visit: impl FnMut(Id) -> ControlFlow<()>,
    ) -> Result<()> {
        match self {
            Self::Numbers(reader) => reader.visit_ids(rank, &mut scratch.page, |id| visit(Id::Number(id))),
            Self::Counts(reader) => reader.visit_ids(rank, &mut scratch.page, |count| visit(Id::Count(count))),
            Self::Texts(reader) => reader.visit_ids(rank, &mut scratch.text, |text| visit(text.into())),
        }
    }

    /// As [`Ids::visit_ids`], for all of them.
    ///
    /// # Errors
    /// As [`Ids::visit_ids`].
    pub(crate) fn ids_of(&self, rank: u64, scratch: &mut IdScratch, mut visit: impl FnMut(Id)) -> Result<()> {
        self.visit_ids(rank, scratch, |id| {
            visit(id);
            ControlFlow::Continue(())
        })
    }
}
