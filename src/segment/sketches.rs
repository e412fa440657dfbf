//! The sketches in a segment of keys: rows of one size, in the order of the run's records (format-spec/keys.md).

use super::file::{PageBuffer, Pages, SegmentFile};
use crate::error::{Error, Result};
use crate::format::CHECKSUM;
use crate::format::footer::{Footer, Span};
use crate::format::index::rows_per_page;
use crate::format::page::{self, MIN_SIZE, Stream};

/// The sketches of a segment; none if it has no such section, or records have no sketches.
#[derive(Debug)]
pub(crate) struct Sketches {
    pages: Pages,
    span: Span,
    size: usize,
}

impl Sketches {
    pub(super) fn open(file: &SegmentFile, footer: &Footer) -> Option<Self> {
        let size = footer.parameters.keys().map_or(0, |keys| keys.sketch_bytes());
        let span = footer.sketches.filter(|_| size > 0)?;
        Some(Self { pages: Pages::new(file, span, MIN_SIZE, Stream::Sketches), span, size })
    }

    /// Checks that there are as many sketches as records.
    pub(super) fn check(&self, file: &SegmentFile, records: u64) -> Result<()> {
        let in_page = rows_per_page(self.size) as u64;
        let last = records % in_page;
        let rest = if last == 0 { 0 } else { last * self.size as u64 + CHECKSUM as u64 };
        let whole = (records / in_page).checked_mul(MIN_SIZE as u64).and_then(|whole| whole.checked_add(rest));
        // A last page that is full has no padding.
        let padding =
            if last == 0 && records > 0 { MIN_SIZE - CHECKSUM - rows_per_page(self.size) * self.size } else { 0 };
        if whole.and_then(|whole| whole.checked_sub(padding as u64)) != Some(self.span.length) {
            return Err(Error::damaged("the sketches are not as many as the run's records")
                .at_path(file.path())
                .at_offset(self.span.offset));
        }
        Ok(())
    }

    /// The sketch of the record of this rank.
    pub(crate) fn get<'a>(&self, file: &'a SegmentFile, rank: u64, buffer: &'a mut PageBuffer) -> Result<&'a [u8]> {
        let in_page = rows_per_page(self.size) as u64;
        let offset = (rank % in_page) as usize * self.size;
        let page = self.pages.get(file, rank / in_page, buffer)?;
        let sketch = page.get(offset..offset + self.size);
        sketch.ok_or_else(|| Error::damaged("a record has no sketch").at_path(file.path()).at_offset(self.span.offset))
    }

    /// Checks the checksum and the padding of every page; returns the error of each that is damaged.
    pub(super) fn verify(&self, file: &SegmentFile) -> Vec<Error> {
        let (mut buffer, used) = (PageBuffer::default(), rows_per_page(self.size) * self.size);
        let check = |number| {
            let page = self.pages.get(file, number, &mut buffer)?;
            let padding = page.get(used..page.len().saturating_sub(CHECKSUM)).unwrap_or_default();
            if padding.iter().any(|&byte| byte != 0) {
                let place = self.pages.place(number);
                return Err(Error::damaged("padding of a page is not zero")
                    .at_path(file.path())
                    .at_offset(place.offset));
            }
            Ok(())
        };
        (0..self.pages.count()).map(check).filter_map(Result::err).collect()
    }

    pub(super) fn resident_bytes(&self) -> u64 {
        self.pages.resident_bytes()
    }
}

/// Sketches to pages. Finished pages gather until the caller takes them.
#[derive(Debug)]
pub(super) struct SketchEncoder {
    size: usize,
    page: Vec<u8>,
    pub(super) pages: Vec<u8>,
    closed: u64,
}

impl SketchEncoder {
    pub(super) fn new(size: usize) -> Self {
        Self { size, page: Vec::with_capacity(MIN_SIZE), pages: Vec::new(), closed: 0 }
    }

    /// Appends whole sketches.
    pub(super) fn push(&mut self, sketches: &[u8]) {
        let full = rows_per_page(self.size) * self.size;
        for sketch in sketches.chunks_exact(self.size.max(1)) {
            // There is a next sketch, so this full page is not the last.
            if self.page.len() == full {
                self.close(MIN_SIZE);
            }
            self.page.extend_from_slice(sketch);
        }
    }

    fn close(&mut self, size: usize) {
        page::close(&mut self.page, size, Stream::Sketches, self.closed);
        self.pages.append(&mut self.page);
        self.closed += 1;
    }

    /// The remaining pages.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if !self.page.is_empty() {
            self.close(self.page.len() + CHECKSUM);
        }
        self.pages
    }
}
