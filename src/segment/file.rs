//! A segment file that is open for reading, and which of its pages were checked.

use crate::env::ReadFile;
use crate::error::{Error, Result};
use crate::format::footer::Span;
use crate::format::page::{self, Stream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The file and its name, for messages.
#[derive(Debug)]
pub(crate) struct SegmentFile {
    path: PathBuf,
    file: Box<dyn ReadFile>,
}

impl SegmentFile {
    pub(crate) fn new(path: &Path, file: Box<dyn ReadFile>) -> Self {
        Self { path: path.to_owned(), file }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn length(&self) -> u64 {
        self.file.length()
    }

    /// The bytes of a span, in `buffer` unless they are in memory anyway.
    pub(crate) fn read<'a>(&'a self, span: Span, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        // A span that no file can hold must not be asked memory for.
        if span.end() > self.length() {
            return Err(Error::damaged("the file ends too early").at_path(&self.path).at_offset(self.length()));
        }
        let length = usize::try_from(span.length).unwrap_or(usize::MAX);
        let read = self.file.read(span.offset, length, buffer);
        read.map_err(|error| Error::io("cannot read", &self.path, error).at_offset(span.offset))
    }

    /// Whether what was checked once needs no second check.
    pub(crate) fn is_stable(&self) -> bool {
        self.file.is_stable()
    }
}

/// A section that consists of pages of one size, the last one shorter.
#[derive(Debug)]
pub(crate) struct Pages {
    span: Span,
    size: usize,
    stream: Stream,
    /// One bit a page: its checksum held. Only kept for files that are stable.
    checked: Vec<AtomicU64>,
}

impl Pages {
    pub(crate) fn new(file: &SegmentFile, span: Span, size: usize, stream: Stream) -> Self {
        let pages = span.length.div_ceil(size as u64);
        let words = if file.is_stable() { usize::try_from(pages.div_ceil(64)).unwrap_or(0) } else { 0 };
        Self { span, size, stream, checked: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Bytes of memory.
    pub(crate) fn resident_bytes(&self) -> u64 {
        (self.checked.capacity() * 8) as u64
    }

    /// Number of pages.
    pub(crate) fn count(&self) -> u64 {
        self.span.length.div_ceil(self.size as u64)
    }

    /// Where a page lies in the file.
    pub(crate) fn place(&self, number: u64) -> Span {
        let start = number.saturating_mul(self.size as u64);
        let length = self.span.length.saturating_sub(start).min(self.size as u64);
        Span { offset: self.span.offset.saturating_add(start), length }
    }

    /// A page whose checksum holds, with the checksum at its end.
    ///
    /// # Errors
    /// `Damaged` with the page's offset if it does not hold; `Io` if it cannot be read.
    pub(crate) fn get<'a>(&self, file: &'a SegmentFile, number: u64, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let place = self.place(number);
        let page = file.read(place, buffer)?;
        let word = usize::try_from(number / 64).ok().and_then(|word| self.checked.get(word));
        let bit = 1 << (number % 64);
        // Relaxed is enough: the bit says nothing about other memory, and a second check does no harm.
        if word.is_none_or(|word| word.load(Ordering::Relaxed) & bit == 0) {
            page::open(page, self.stream, number)
                .map_err(|error| error.at_path(file.path()).at_offset(place.offset))?;
            if let Some(word) = word {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(page)
    }
}
