//! A unit of ids: a page of numbers or counts, or a frame of texts.

use super::file::{PageBuffer, PageSet, Pages, SegmentFile};
use super::text_ids::packing::{Unpacker, frame_length, open_dictionary};
use crate::error::{Error, Result};
use crate::fingerprint::IdRef;
use crate::format::CHECKSUM;
use crate::format::fields::Fields;
use crate::format::footer::Span;
use crate::format::id_page::{self, IdPage, Part};
use crate::format::page::{self, Stream};
use crate::format::text_frame::{MAX_PAYLOAD, TextFrame};
use crate::format::text_index::UnitEntry;
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::atomic::{self, AtomicU64};
use zstd::dict::DecoderDictionary;

/// Buffers that reading ids of any segments reuses, and the last frame.
#[derive(Debug, Default)]
pub(crate) struct IdScratch {
    buffer: PageBuffer,
    unpacker: Unpacker,
    frame: TextFrame,
    /// The reader and the number of the frame above, if it is sound.
    holds: Option<(u64, u64)>,
}

pub(super) struct IdPages {
    pages: Pages,
    /// Pages that parsed, of files that do not change.
    parsed: PageSet,
}

impl IdPages {
    pub(super) fn new(file: &SegmentFile, ids: Span) -> Self {
        let pages = Pages::new(file, ids, id_page::SIZE, Stream::Ids);
        Self { parsed: PageSet::new(file, pages.count()), pages }
    }

    pub(super) fn resident_bytes(&self) -> u64 {
        self.pages.resident_bytes() + self.parsed.resident_bytes()
    }

    #[inline]
    pub(super) fn read<'b>(
        &self,
        file: &'b SegmentFile,
        number: u64,
        scratch: &'b mut IdScratch,
    ) -> Result<IdPage<'b>> {
        // Most pages: checked, parsed, in memory. The caller has the page in registers then.
        if self.parsed.has(number)
            && let Some(bytes) = self.pages.checked(file, number)
            && let Some(page) = IdPage::parsed(bytes)
        {
            return Ok(page);
        }
        self.read_unknown(file, number, scratch)
    }

    #[inline(never)]
    fn read_unknown<'b>(&self, file: &'b SegmentFile, number: u64, scratch: &'b mut IdScratch) -> Result<IdPage<'b>> {
        let bytes = self.pages.get(file, number, &mut scratch.buffer)?;
        let payload = bytes.get(..bytes.len().saturating_sub(CHECKSUM)).unwrap_or_default();
        let page = IdPage::parse(&mut Fields::new(payload, self.pages.place(number).offset))?;
        self.parsed.add(number);
        Ok(page)
    }

    /// Prefetches the head of a page, and about where the ids of the `nth` of the `begun` fingerprints are that begin
    /// there: exactly, if each has one.
    pub(super) fn prefetch(&self, file: &SegmentFile, number: u64, nth: usize, begun: u16) {
        self.pages.announce(file, number, 0, 1);
        let ids = id_page::SIZE - CHECKSUM - id_page::HEADER;
        self.pages.prefetch(file, number, id_page::HEADER + ids * nth / usize::from(begun.max(1)), 16);
    }

    /// How many fingerprints begin in each page, up to the first damaged one.
    pub(super) fn walk(&self, file: &SegmentFile) -> Vec<UnitEntry> {
        let mut scratch = IdScratch::default();
        let begun = |number| Some(self.read(file, number, &mut scratch).ok()?.begun());
        let begun = (0..self.pages.count()).map_while(begun);
        begun.map(|begun| UnitEntry::page(u16::try_from(begun).unwrap_or(u16::MAX))).collect()
    }
}

#[derive(Default)]
pub(super) struct IdFrames {
    dictionary: Option<DecoderDictionary<'static>>,
    /// A number that no other reader has, so that readers can share a scratch.
    reader: u64,
}

impl IdFrames {
    pub(super) fn open(file: &SegmentFile, dictionary: Span) -> Result<Self> {
        static NEXT_READER: AtomicU64 = AtomicU64::new(1);
        let mut buffer = Vec::new();
        let opened = open_dictionary(file.read(dictionary, &mut buffer)?);
        let dictionary = opened.map_err(|error| error.at_path(file.path()).at_offset(dictionary.offset))?;
        Ok(Self { dictionary, reader: NEXT_READER.fetch_add(1, atomic::Ordering::Relaxed) })
    }

    pub(super) fn resident_bytes(&self) -> u64 {
        self.dictionary.as_ref().map_or(0, |dictionary| dictionary.as_ddict().sizeof()) as u64
    }

    /// Reads a frame to the scratch, unless it is there. `begun` is the number of fingerprints that begin in it.
    pub(super) fn read<'s>(
        &self,
        file: &SegmentFile,
        number: u64,
        place: impl FnOnce() -> Span,
        begun: u16,
        scratch: &'s mut IdScratch,
    ) -> Result<&'s TextFrame> {
        if scratch.holds == Some((self.reader, number)) {
            return Ok(&scratch.frame);
        }
        scratch.holds = None;
        let packed = page::open(file.read(place(), scratch.buffer.bytes())?, Stream::Ids, number)?;
        let frame = &mut scratch.frame;
        frame.parse(scratch.unpacker.unpack(packed, self.dictionary.as_ref())?)?;
        if frame.begun() != usize::from(begun) {
            return Err(Error::damaged("a frame of text ids and the id index disagree"));
        }
        if number == 0 && !frame.begins(0) {
            return Err(Error::damaged("the first text id belongs to no fingerprint"));
        }
        scratch.holds = Some((self.reader, number));
        Ok(frame)
    }

    /// The index of the frames, up to the first damaged one. A frame states its own length, and its checksum covers its
    /// number.
    pub(super) fn walk(&self, file: &SegmentFile, ids: Span) -> Vec<UnitEntry> {
        /// More than any frame takes in a file.
        const LONGEST: u64 = 2 * MAX_PAYLOAD as u64;
        let (mut frames, mut at, mut buffer) = (Vec::new(), ids.offset, Vec::new());
        let (mut unpacker, mut frame) = (Unpacker::default(), TextFrame::default());
        while at < ids.end() {
            let span = Span { offset: at, length: LONGEST.min(ids.end() - at) };
            let bytes = file.read(span, &mut buffer).unwrap_or_default();
            let unit = frame_length(bytes).and_then(|length| bytes.get(..length)).unwrap_or_default();
            let Ok(packed) = page::open(unit, Stream::Ids, frames.len() as u64) else { break };
            let read = unpacker.unpack(packed, self.dictionary.as_ref()).and_then(|payload| frame.parse(payload));
            let entry = (u16::try_from(unit.len()), u16::try_from(frame.begun()));
            let (Ok(()), (Ok(length), Ok(begun))) = (read, entry) else { break };
            frames.push(UnitEntry { length, begun });
            at += u64::from(length);
        }
        frames
    }
}

pub(super) enum Unit<'a> {
    Page(IdPage<'a>),
    Frame(&'a TextFrame),
}

impl Unit<'_> {
    /// The records of the `nth` fingerprint (from 0) that begins here, as far as they are here; without a number, the
    /// records before the first one that begins a fingerprint.
    #[inline]
    pub(super) fn part(&self, nth: Option<usize>) -> Result<Part> {
        let part = match (self, nth) {
            (Self::Page(page), Some(nth)) => page.part(nth),
            (Self::Page(page), None) => page.continued(),
            (Self::Frame(frame), Some(nth)) => frame.range_of(nth).map(Part::Records),
            (Self::Frame(frame), None) => Some(Part::Records(frame.continued())),
        };
        part.ok_or_else(|| Error::damaged("a fingerprint has no ids"))
    }

    /// Whether no records of the unit are behind these.
    pub(super) fn ends_with(&self, part: &Part) -> bool {
        match self {
            Self::Page(page) => page.ends_with(part),
            Self::Frame(frame) => matches!(part, Part::Records(records) if records.end == frame.records()),
        }
    }

    /// Compares the first of these records' ids with an id of the unit's kind; if `all`, the first one that is not
    /// less, or the last one.
    pub(super) fn compare(&self, part: Part, id: IdRef<'_>, all: bool) -> Result<Option<Ordering>> {
        let mut found = None;
        _ = self.visit(part, |other| {
            let order = match (other, id) {
                (IdRef::Number(other), IdRef::Number(id)) => other.cmp(&id),
                (IdRef::Text(other), IdRef::Text(id)) => other.cmp(id),
                _ => Ordering::Less,
            };
            found = Some(order);
            if all && order == Ordering::Less { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(found)
    }

    /// Calls `visit` with the ids of these records, until it breaks; with a count as if it were a number.
    #[inline]
    pub(super) fn visit(
        &self,
        part: Part,
        mut visit: impl FnMut(IdRef<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        match (self, part) {
            (Self::Page(page), part) => page.visit(part, |id| visit(IdRef::Number(id))),
            (Self::Frame(frame), Part::Records(mut records)) => {
                Ok(records.try_for_each(|record| visit(IdRef::Text(frame.text(record)))))
            }
            (Self::Frame(_), Part::Group(_)) => Ok(ControlFlow::Continue(())),
        }
    }

    pub(super) fn records(&self) -> usize {
        match self {
            Self::Page(page) => page.records(),
            Self::Frame(frame) => frame.records(),
        }
    }

    /// Whether its records can be read one by one, in any order.
    pub(super) fn is_divisible(&self) -> bool {
        match self {
            Self::Page(page) => page.is_divisible(),
            Self::Frame(_) => true,
        }
    }

    /// The first record of the `nth` fingerprint (from 0) that begins here, and this number; or the first record of the
    /// unit, and 0, if its records can only be read in order.
    pub(super) fn start_of(&self, nth: usize) -> (usize, usize) {
        match self.part(Some(nth)) {
            Ok(Part::Records(records)) => (records.start, nth),
            _ => (0, 0),
        }
    }

    /// As [`Unit::visit`], and with whether each id begins a fingerprint: the ids from this record on, `most` of them,
    /// or all where records can only be read in order. Returns the record behind them.
    pub(super) fn visit_from(
        &self,
        record: usize,
        most: usize,
        mut visit: impl FnMut(bool, IdRef<'_>) -> ControlFlow<()>,
    ) -> Result<usize> {
        let end = if self.is_divisible() { self.records().min(record.saturating_add(most)) } else { self.records() };
        let _ = match self {
            Self::Page(page) => page.visit_ids(record..end, |begins, id| visit(begins, IdRef::Number(id)))?,
            Self::Frame(frame) => {
                (record..end).try_for_each(|record| visit(frame.begins(record), IdRef::Text(frame.text(record))))
            }
        };
        Ok(end)
    }
}
