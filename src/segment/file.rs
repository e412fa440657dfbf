//! A segment file open for reading, and which of its pages were checked.

use crate::codec::prefetch;
use crate::env::{CachedFile, HeldPage, PageCache, ReadFile};
use crate::error::{Error, Result};
use crate::format::CHECKSUM;
use crate::format::footer::Span;
use crate::format::page::{self, Stream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub(crate) struct SegmentFile {
    path: PathBuf,
    file: Box<dyn ReadFile>,
    /// Its pages in memory, unless the whole file is.
    cached: Option<CachedFile>,
}

/// The last page read, in one of two places.
#[derive(Debug, Default)]
pub(crate) struct PageBuffer {
    read: Vec<u8>,
    held: HeldPage,
}

impl PageBuffer {
    /// A buffer for bytes that are no page.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.read
    }
}

impl SegmentFile {
    pub(crate) fn new(path: &Path, file: Box<dyn ReadFile>) -> Self {
        Self { path: path.to_owned(), file, cached: None }
    }

    /// Keeps pages in a cache, unless the file is in memory.
    pub(super) fn with_cache(mut self, cache: &Arc<PageCache>) -> Self {
        self.cached = cache.file().filter(|_| self.file.bytes().is_none());
        self
    }

    /// Whether pages that were read may be in a cache.
    #[inline]
    pub(super) fn is_cached(&self) -> bool {
        self.cached.is_some()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn length(&self) -> u64 {
        self.file.length()
    }

    pub(crate) fn contents(&self) -> &dyn ReadFile {
        &*self.file
    }

    /// The bytes of a span; `buffer` holds them unless the file is in memory.
    pub(crate) fn read<'a>(&'a self, span: Span, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        // The span may come from damaged bytes: bounds the allocation.
        if span.end() > self.length() {
            return Err(Error::damaged("the file ends too early").at_path(&self.path).at_offset(self.length()));
        }
        let length = usize::try_from(span.length).unwrap_or(usize::MAX);
        let read = self.file.read(span.offset, length, buffer);
        read.map_err(|error| Error::io("cannot read", &self.path, error).at_offset(span.offset))
    }

    /// Visits the bytes of a span, however long it is, in pieces that fit a cache, with the offset of each.
    pub(crate) fn visit(&self, span: Span, mut visit: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        const PIECE: u64 = 1 << 18;
        let (mut offset, mut buffer) = (span.offset, Vec::new());
        while offset < span.end() {
            let length = PIECE.min(span.end() - offset);
            visit(offset, self.read(Span { offset, length }, &mut buffer)?)?;
            offset += length;
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.file.bytes()
    }

    /// Whether repeated reads return the same bytes, so that one check is enough.
    pub(crate) fn is_stable(&self) -> bool {
        self.file.is_stable()
    }
}

#[inline]
fn range(span: Span) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(span.offset).ok()?;
    Some(start..start.checked_add(usize::try_from(span.length).ok()?)?)
}

/// The pages that need not be checked again: one bit a page. Stays empty if repeated reads of the file may differ.
#[derive(Debug)]
pub(super) struct PageSet(Vec<AtomicU64>);

impl PageSet {
    pub(super) fn new(file: &SegmentFile, pages: u64) -> Self {
        let words = if file.is_stable() { usize::try_from(pages.div_ceil(64)).unwrap_or(0) } else { 0 };
        Self((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    fn word(&self, page: u64) -> Option<&AtomicU64> {
        usize::try_from(page / 64).ok().and_then(|word| self.0.get(word))
    }

    // Relaxed is enough: a bit guards no other memory, and checking again does no harm.
    #[inline]
    pub(super) fn has(&self, page: u64) -> bool {
        self.word(page).is_some_and(|word| word.load(Ordering::Relaxed) & 1 << (page % 64) != 0)
    }

    pub(super) fn add(&self, page: u64) {
        self.word(page).into_iter().for_each(|word| _ = word.fetch_or(1 << (page % 64), Ordering::Relaxed));
    }

    pub(super) fn resident_bytes(&self) -> u64 {
        (self.0.capacity() * 8) as u64
    }
}

/// A section of pages of one size; the last one may be shorter.
#[derive(Debug)]
pub(crate) struct Pages {
    span: Span,
    size: usize,
    stream: Stream,
    checked: PageSet,
}

impl Pages {
    pub(crate) fn new(file: &SegmentFile, span: Span, size: usize, stream: Stream) -> Self {
        Self { span, size, stream, checked: PageSet::new(file, span.length.div_ceil(size as u64)) }
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        self.checked.resident_bytes()
    }

    pub(crate) fn count(&self) -> u64 {
        self.span.length.div_ceil(self.size as u64)
    }

    pub(crate) fn place(&self, number: u64) -> Span {
        let start = number.saturating_mul(self.size as u64);
        let length = self.span.length.saturating_sub(start).min(self.size as u64);
        Span { offset: self.span.offset.saturating_add(start), length }
    }

    /// A page with its checksum, which holds; `Damaged` with the page's offset if it does not.
    pub(crate) fn get<'a>(&self, file: &'a SegmentFile, number: u64, buffer: &'a mut PageBuffer) -> Result<&'a [u8]> {
        let place = self.place(number);
        if let Some(cached) = &file.cached
            && let Some(page) = cached.get(place.offset, &mut buffer.held)
        {
            return Ok(buffer.held.keep(page));
        }
        let page = match file.bytes().and_then(|bytes| bytes.get(range(place)?)) {
            Some(page) => page,
            None => file.read(place, &mut buffer.read)?,
        };
        if !self.checked.has(number) {
            page::open(page, self.stream, number)
                .map_err(|error| error.at_path(file.path()).at_offset(place.offset))?;
            self.checked.add(number);
        }
        if let Some(cached) = &file.cached {
            buffer.held.keep(cached.add(place.offset, page));
        }
        Ok(page)
    }

    /// The bytes of a page in memory whose checksum was found to hold, without it.
    #[inline]
    pub(super) fn checked<'a>(&self, file: &'a SegmentFile, number: u64) -> Option<&'a [u8]> {
        let Span { offset, length } = self.place(number);
        let payload = Span { offset, length: length.saturating_sub(CHECKSUM as u64) };
        file.bytes().filter(|_| self.checked.has(number))?.get(range(payload)?)
    }

    /// The bytes from `offset` in a page to its end or beyond. The page's checksum holds.
    #[inline]
    pub(super) fn get_from<'a>(
        &self,
        file: &'a SegmentFile,
        number: u64,
        offset: usize,
        buffer: &'a mut PageBuffer,
    ) -> Result<&'a [u8]> {
        // A checked page in memory needs no more than its address.
        if self.checked.has(number)
            && let Some(bytes) = file.bytes()
            && let Some(bytes) = bytes.get(self.start(number).wrapping_add(offset)..)
        {
            return Ok(bytes);
        }
        Ok(self.get(file, number, buffer)?.get(offset..).unwrap_or_default())
    }

    /// Where a page begins in a file in memory; meaningless for other files.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "what is in memory has an address")]
    fn start(&self, number: u64) -> usize {
        self.span.offset.wrapping_add(number.wrapping_mul(self.size as u64)) as usize
    }

    /// Prefetches what announcing a page of the cache waits for.
    #[inline]
    pub(super) fn approach(&self, file: &SegmentFile, number: u64) {
        file.cached.iter().for_each(|cached| cached.prefetch(self.place(number).offset));
    }

    /// Announces that bytes of a page will be read soon. Prefetches them if the page is in memory. Otherwise the system
    /// is told, but not of a mapped page that was read before: it is most likely in memory, and the call would cost
    /// more than it saves.
    #[inline]
    pub(super) fn announce(&self, file: &SegmentFile, number: u64, offset: usize, length: usize) {
        if file.bytes().is_some() {
            if !self.checked.has(number) {
                self.will_read(file, number);
            }
            self.prefetch(file, number, offset, length);
        } else {
            let prefetch = |page: &[u8]| prefetch_lines(page, offset, length);
            let place = self.place(number);
            if !file.cached.as_ref().is_some_and(|cached| cached.announce(place.offset, prefetch)) {
                self.will_read(file, number);
            }
        }
    }

    fn will_read(&self, file: &SegmentFile, number: u64) {
        let Span { offset, length } = self.place(number);
        file.file.will_read(offset, length);
    }

    /// Prefetches bytes of a page, if the file is in memory.
    #[inline]
    pub(super) fn prefetch(&self, file: &SegmentFile, number: u64, offset: usize, length: usize) {
        if let Some(bytes) = file.bytes() {
            prefetch_lines(bytes, self.start(number).saturating_add(offset), length);
        }
    }
}

#[inline]
fn prefetch_lines(bytes: &[u8], start: usize, length: usize) {
    const LINE: usize = 64;
    // Cache lines begin at multiples of their length, in the file as in memory: maps begin at a page. Pages of the
    // cache may begin anywhere, so a last line may be missed there.
    for at in (start & !(LINE - 1)..start.saturating_add(length)).step_by(LINE) {
        prefetch(bytes, at);
    }
}
