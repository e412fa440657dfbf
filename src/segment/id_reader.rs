//! The ids of a segment, open for reading.

use super::file::{PageSet, Pages, SegmentFile};
use super::id_search;
use super::id_writer::INDEX_CHUNK;
use crate::error::{Error, Result};
use crate::format::fields::Fields;
use crate::format::footer::Span;
use crate::format::id_page::{self, IdPage};
use crate::format::{CHECKSUM, page};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Finds the ids of a fingerprint by its rank in the first table.
#[derive(Debug)]
pub(crate) struct IdReader {
    file: Arc<SegmentFile>,
    pages: Pages,
    /// Pages that were found to be sound, of files that do not change.
    parsed: PageSet,
    /// Number of fingerprints that begin before each page, and at the end their number.
    firsts: Vec<u64>,
}

impl IdReader {
    /// Reads the index.
    pub(super) fn open(file: &Arc<SegmentFile>, ids: Span, index: Span) -> Result<Self> {
        let pages = Pages::new(file, ids, id_page::SIZE, page::Stream::Ids);
        let parsed = PageSet::new(file, pages.count());
        let mut buffer = Vec::new();
        let bytes = file.read(index, &mut buffer)?;
        let mut fields = Fields::new(bytes, index.offset);
        let firsts = parse_index(&mut fields, pages.count()).map_err(|error| error.at_path(file.path()))?;
        Ok(Self { file: Arc::clone(file), pages, parsed, firsts })
    }

    /// Makes the index from the pages themselves, up to the first one that does not hold.
    pub(super) fn walk(file: &Arc<SegmentFile>, ids: Span) -> Self {
        let pages = Pages::new(file, ids, id_page::SIZE, page::Stream::Ids);
        let (parsed, mut buffer) = (PageSet::new(file, pages.count()), Vec::new());
        let mut reader = Self { file: Arc::clone(file), pages, parsed, firsts: vec![0] };
        for number in 0..reader.pages.count() {
            let Ok(begun) = reader.with_page(number, &mut buffer, |page| Ok(page.begun() as u64)) else { break };
            reader.firsts.push(reader.fingerprints() + begun);
        }
        reader
    }

    /// Number of fingerprints that have ids.
    pub(crate) fn fingerprints(&self) -> u64 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// Bytes of memory.
    pub(crate) fn resident_bytes(&self) -> u64 {
        (self.firsts.capacity() * 8) as u64 + self.pages.resident_bytes() + self.parsed.resident_bytes()
    }

    /// Number of pages that the index has.
    pub(super) fn page_count(&self) -> u64 {
        self.firsts.len().saturating_sub(1) as u64
    }

    /// Where a page lies in the file.
    pub(super) fn page_place(&self, number: u64) -> Span {
        self.pages.place(number)
    }

    /// The fingerprints that begin in a page: the first one's rank and their number.
    pub(super) fn page_fingerprints(&self, number: u64) -> (u64, u64) {
        let first = |page: u64| usize::try_from(page).ok().and_then(|page| self.firsts.get(page)).copied().unwrap_or(0);
        (first(number), first(number + 1).saturating_sub(first(number)))
    }

    /// Reads a page and hands it to `visit`.
    pub(super) fn with_page<R>(
        &self,
        number: u64,
        buffer: &mut Vec<u8>,
        visit: impl FnOnce(&IdPage<'_>) -> Result<R>,
    ) -> Result<R> {
        let place = self.pages.place(number);
        let bytes = self.pages.get(&self.file, number, buffer)?;
        let payload = bytes.get(..bytes.len().saturating_sub(CHECKSUM)).unwrap_or_default();
        let parsed = if self.parsed.has(number) { IdPage::parsed(payload) } else { None };
        let page = match parsed {
            Some(page) => Ok(page),
            None => IdPage::parse(&mut Fields::new(payload, place.offset)).inspect(|_| self.parsed.add(number)),
        };
        page.and_then(|page| visit(&page)).map_err(|error| error.at_path(self.file.path()).at_offset(place.offset))
    }

    /// As [`IdReader::with_page`], for somebody who goes through all of a page.
    ///
    /// # Errors
    /// `Damaged` if not as many fingerprints begin in it as the index says; those of `visit`; `Io`.
    pub(super) fn with_whole_page<R>(
        &self,
        number: u64,
        buffer: &mut Vec<u8>,
        visit: impl FnOnce(&IdPage<'_>) -> Result<R>,
    ) -> Result<R> {
        self.with_page(number, buffer, |page| {
            if page.begun() as u64 != self.page_fingerprints(number).1 {
                return Err(Error::damaged("a page of ids and its index disagree"));
            }
            visit(page)
        })
    }

    /// The page in which the ids of the fingerprint with this rank in the first table begin, and how many begin before
    /// them there.
    ///
    /// # Errors
    /// `Damaged` if there is no such fingerprint.
    pub(super) fn place_of(&self, rank: u64) -> Result<(u64, usize)> {
        let behind = self.firsts.partition_point(|&first| first <= rank);
        let place = behind.checked_sub(1).filter(|_| behind < self.firsts.len()).and_then(|page| {
            let nth = rank.checked_sub(*self.firsts.get(page)?)?;
            Some((page as u64, usize::try_from(nth).ok()?))
        });
        place.ok_or_else(|| Error::damaged("a fingerprint has no ids").at_path(self.file.path()))
    }

    /// Calls `visit` with the ids of the fingerprint with this rank in the first table, in ascending order, until it
    /// breaks. Reads page by page.
    ///
    /// # Errors
    /// `Damaged` if the pages and their index contradict each other; `Io`.
    pub(super) fn visit_ids(
        &self,
        rank: u64,
        buffer: &mut Vec<u8>,
        mut visit: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<()> {
        self.each_range(rank, buffer, |page, records| page.visit_ids(records, &mut visit))
    }

    /// The number of ids of the fingerprint with this rank in the first table.
    ///
    /// # Errors
    /// As [`IdReader::visit_ids`].
    pub(super) fn count(&self, rank: u64, buffer: &mut Vec<u8>) -> Result<u64> {
        let mut count = 0;
        self.each_range(rank, buffer, |_, records| {
            count += records.len() as u64;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Calls `visit` with the pages that have ids of the fingerprint with this rank, and where they are there, until it
    /// breaks.
    fn each_range(
        &self,
        rank: u64,
        buffer: &mut Vec<u8>,
        mut visit: impl FnMut(&IdPage<'_>, Range<usize>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (first, nth) = self.place_of(rank)?;
        for number in first..self.pages.count() {
            let more = self.with_page(number, buffer, |page| {
                let records = if number == first { range_of(page, nth)? } else { continued(page) };
                let all = records.end == page.records();
                Ok(visit(page, records)?.is_continue() && all)
            })?;
            // A fingerprint with very many ids goes on in the next pages.
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Whether a fingerprint has an id. Its ids begin in the first of `pages`, behind those of `nth` fingerprints that
    /// begin there, and are in no other pages.
    ///
    /// # Errors
    /// `Damaged` if the pages and their index contradict each other; `Io`.
    pub(super) fn has(&self, pages: Range<u64>, nth: usize, id: u64, buffer: &mut Vec<u8>) -> Result<bool> {
        let first = pages.start;
        id_search::in_pages(pages, |number| {
            self.with_whole_page(number, buffer, |page| {
                let records = if number == first { range_of(page, nth)? } else { continued(page) };
                id_search::in_page(records, |record| Ok(page.id(record)?.cmp(&id)))
            })
        })
    }
}

/// The records of the fingerprint that is the `nth` (from 0) to begin in a page, as far as they are there.
///
/// # Errors
/// `Damaged` if there is none.
fn range_of(page: &IdPage<'_>, nth: usize) -> Result<Range<usize>> {
    let start = page.start_of(nth).ok_or_else(|| Error::damaged("a fingerprint has no ids"))?;
    Ok(start..page.end_of(start))
}

/// The records in front of the first one that begins a fingerprint.
fn continued(page: &IdPage<'_>) -> Range<usize> {
    0..if page.begins(0) { 0 } else { page.end_of(0) }
}

/// The rank of the first fingerprint that begins in each of `pages` pages, and at the end their number.
pub(crate) fn parse_index(fields: &mut Fields<'_>, pages: u64) -> Result<Vec<u64>> {
    let mut firsts = vec![0];
    let (mut left, mut total) = (pages, 0u64);
    for number in 0.. {
        if left == 0 {
            break;
        }
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(INDEX_CHUNK);
        let bytes = fields.bytes("fingerprints that begin in a page", count * 2, &format_args!("{count} pages"))?;
        fields.checksum_of(page::checksum(page::Stream::IdIndex, number, bytes))?;
        for pair in bytes.chunks_exact(2) {
            total += pair.iter().rev().fold(0, |value, &byte| (value << 8) | u64::from(byte));
            firsts.push(total);
        }
        left -= count as u64;
    }
    fields.end()?;
    Ok(firsts)
}
