//! The text ids of a segment, open for reading.

use super::super::file::SegmentFile;
use super::super::id_search;
use super::packing::{Unpacker, open_dictionary};
use crate::error::{Error, Result};
use crate::format::fields::Fields;
use crate::format::footer::Span;
use crate::format::page::{self, Stream};
use crate::format::text_frame::TextFrame;
use crate::format::text_index::{self, FrameEntry};
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zstd::dict::DecoderDictionary;

/// Frames for each of which the index in memory adds up lengths and numbers.
const STEP: usize = 64;

/// What distinguishes readers.
static NEXT_READER: AtomicU64 = AtomicU64::new(0);

/// Finds the text ids of a fingerprint by its rank in the first table.
pub(crate) struct TextIds {
    file: Arc<SegmentFile>,
    ids: Span,
    frames: Vec<FrameEntry>,
    /// Where every 64th frame is.
    marks: Vec<FramePlaceInPage>,
    fingerprints: u64,
    dictionary: Option<DecoderDictionary<'static>>,
    /// A number that no other reader has, so that scratches can be shared.
    reader: u64,
}

/// Where a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FramePlaceInPage {
    /// Bytes in front of it in the section.
    offset: u64,
    /// Fingerprints that begin before it.
    rank: u64,
}

impl FramePlaceInPage {
    fn behind(self, frame: FrameEntry) -> Self {
        Self {
            offset: self.offset.saturating_add(frame.length.into()),
            rank: self.rank.saturating_add(frame.begun.into()),
        }
    }
}

/// What reading needs again and again, of any number of segments: memory, and the last frame.
#[derive(Default)]
pub(crate) struct TextScratch {
    unpacker: Unpacker,
    buffer: Vec<u8>,
    frame: TextFrame,
    /// The reader and the number of the frame above, if it holds.
    holds: Option<(u64, u64)>,
}

impl fmt::Debug for TextScratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextScratch").field("holds", &self.holds).finish_non_exhaustive()
    }
}

impl fmt::Debug for TextIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("TextIds");
        text.field("frames", &self.frames.len()).field("fingerprints", &self.fingerprints).finish_non_exhaustive()
    }
}

/// The dictionary that stands there.
///
/// # Errors
/// `Damaged` if it does not hold together; `Io`.
pub(super) fn read_dictionary(file: &SegmentFile, span: Span) -> Result<Option<DecoderDictionary<'static>>> {
    let mut buffer = Vec::new();
    let bytes = file.read(span, &mut buffer)?;
    open_dictionary(bytes).map_err(|error| error.at_path(file.path()).at_offset(span.offset))
}

impl TextIds {
    /// Reads index and dictionary.
    ///
    /// # Errors
    /// `Damaged` if one of them does not hold together, or does not fit the section of ids; `Io`.
    pub(crate) fn open(file: &Arc<SegmentFile>, ids: Span, index: Span, dictionary: Span) -> Result<Self> {
        let (mut buffer, mut frames) = (Vec::new(), Vec::new());
        let bytes = file.read(index, &mut buffer)?;
        text_index::parse(&mut Fields::new(bytes, index.offset), ids.length, |frame| frames.push(frame))
            .map_err(|error| error.at_path(file.path()))?;
        let dictionary = read_dictionary(file, dictionary)?;
        Ok(Self::of_frames(file, ids, frames, dictionary))
    }

    /// Those of frames that are known, the first one at the begin of the section.
    pub(super) fn of_frames(
        file: &Arc<SegmentFile>,
        ids: Span,
        mut frames: Vec<FrameEntry>,
        dictionary: Option<DecoderDictionary<'static>>,
    ) -> Self {
        let (mut marks, mut place) = (Vec::new(), FramePlaceInPage { offset: 0, rank: 0 });
        for (number, &frame) in frames.iter().enumerate() {
            if number % STEP == 0 {
                marks.push(place);
            }
            place = place.behind(frame);
        }
        frames.shrink_to_fit();
        marks.shrink_to_fit();
        let reader = NEXT_READER.fetch_add(1, Ordering::Relaxed);
        Self { file: Arc::clone(file), ids, frames, marks, fingerprints: place.rank, dictionary, reader }
    }

    /// Number of fingerprints that have ids.
    pub(crate) fn fingerprints(&self) -> u64 {
        self.fingerprints
    }

    /// Number of frames.
    pub(crate) fn frame_count(&self) -> u64 {
        self.frames.len() as u64
    }

    /// Bytes of memory: index and dictionary.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let index =
            self.frames.capacity() * size_of::<FrameEntry>() + self.marks.capacity() * size_of::<FramePlaceInPage>();
        (index + self.dictionary.as_ref().map_or(0, |dictionary| dictionary.as_ddict().sizeof())) as u64
    }

    /// Where a frame lies in the file.
    pub(crate) fn frame_place(&self, number: u64) -> Span {
        let place = self.place(number);
        let length = self.entry(number).map_or(0, |frame| frame.length.into());
        Span { offset: self.ids.offset.saturating_add(place.offset), length }
    }

    /// The fingerprints that begin in a frame: the first one's rank and their number.
    pub(crate) fn frame_fingerprints(&self, number: u64) -> (u64, u64) {
        (self.place(number).rank, self.entry(number).map_or(0, |frame| frame.begun.into()))
    }

    fn entry(&self, number: u64) -> Option<&FrameEntry> {
        usize::try_from(number).ok().and_then(|number| self.frames.get(number))
    }

    fn place(&self, number: u64) -> FramePlaceInPage {
        let number = usize::try_from(number).unwrap_or(usize::MAX).min(self.frames.len());
        let step = (number / STEP).min(self.marks.len().saturating_sub(1));
        let start = self.marks.get(step).copied().unwrap_or(FramePlaceInPage { offset: 0, rank: 0 });
        let before = self.frames.get(step * STEP..number).unwrap_or_default();
        before.iter().fold(start, |place, &frame| place.behind(frame))
    }

    /// The frame in which the fingerprint with this rank begins, and how many begin before it there.
    ///
    /// # Errors
    /// `Damaged` if there is no such fingerprint.
    pub(crate) fn place_of(&self, rank: u64) -> Result<(u64, usize)> {
        self.find(rank).ok_or_else(|| self.no_ids())
    }

    fn no_ids(&self) -> Error {
        Error::damaged("a fingerprint has no ids").at_path(self.file.path())
    }

    fn find(&self, rank: u64) -> Option<(u64, usize)> {
        let step = self.marks.partition_point(|mark| mark.rank <= rank).checked_sub(1)?;
        let mut left = rank.checked_sub(self.marks.get(step)?.rank)?;
        for (number, frame) in (step * STEP..).zip(self.frames.get(step * STEP..)?) {
            match left.checked_sub(frame.begun.into()) {
                Some(less) => left = less,
                None => return Some((number as u64, usize::try_from(left).ok()?)),
            }
        }
        None
    }

    /// Brings a frame to the scratch, unless it is there.
    fn load<'s>(&self, number: u64, scratch: &'s mut TextScratch) -> Result<&'s TextFrame> {
        if scratch.holds != Some((self.reader, number)) {
            scratch.holds = None;
            let place = self.frame_place(number);
            self.read(number, place, scratch)
                .map_err(|error| error.at_path(self.file.path()).at_offset(place.offset))?;
            scratch.holds = Some((self.reader, number));
        }
        Ok(&scratch.frame)
    }

    fn read(&self, number: u64, place: Span, scratch: &mut TextScratch) -> Result<()> {
        let bytes = self.file.read(place, &mut scratch.buffer)?;
        let frame = page::open(bytes, Stream::Ids, number)?;
        scratch.frame.parse(scratch.unpacker.unpack(frame, self.dictionary.as_ref())?)?;
        if scratch.frame.begun() as u64 != self.frame_fingerprints(number).1 {
            return Err(Error::damaged("a frame of text ids and the id index disagree"));
        }
        if number == 0 && !scratch.frame.begins(0) {
            return Err(Error::damaged("the first text id belongs to no fingerprint"));
        }
        Ok(())
    }

    /// Reads a frame and hands it to `visit`.
    ///
    /// # Errors
    /// `Damaged` if the frame is not one that a writer makes, or does not agree with the index; `Io`; those of `visit`.
    pub(crate) fn with_frame<R>(
        &self,
        number: u64,
        scratch: &mut TextScratch,
        visit: impl FnOnce(&TextFrame) -> Result<R>,
    ) -> Result<R> {
        let visited = self.load(number, scratch).and_then(visit);
        visited.map_err(|error| error.at_path(self.file.path()).at_offset(self.frame_place(number).offset))
    }

    /// For a verifier that goes through all frames in order: checks a frame and that it goes on where the one before it
    /// ended, with `last` that one's last text (`None` if it is not known). Returns the number of records.
    ///
    /// # Errors
    /// As [`TextIds::with_frame`], and `Damaged` if ids of one fingerprint do not ascend from frame to frame.
    pub(crate) fn check_frame(
        &self,
        number: u64,
        scratch: &mut TextScratch,
        last: &mut Option<Box<str>>,
    ) -> Result<u64> {
        let before = last.take();
        self.with_frame(number, scratch, |frame| {
            if !frame.begins(0) && before.is_some_and(|before| &*before >= frame.text(0)) {
                return Err(Error::damaged("ids of a fingerprint are not in ascending order"));
            }
            *last = frame.records().checked_sub(1).map(|record| frame.text(record).into());
            Ok(frame.records() as u64)
        })
    }

    /// Calls `visit` with the ids of the fingerprint with this rank in the first table, in ascending order of their
    /// bytes, until it breaks. Reads frame by frame.
    ///
    /// # Errors
    /// `Damaged` if there is no such fingerprint, or frames and index contradict each other; `Io`.
    pub(crate) fn visit_ids(
        &self,
        rank: u64,
        scratch: &mut TextScratch,
        mut visit: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<()> {
        let (first, nth) = self.place_of(rank)?;
        for number in first..self.frame_count() {
            let more = self.with_frame(number, scratch, |frame| {
                let mut records = self.records_of(frame, (number == first).then_some(nth))?;
                let all = records.end == frame.records();
                Ok(records.all(|record| visit(frame.text(record)).is_continue()) && all)
            })?;
            // A fingerprint with very many ids goes on in the next frames.
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Whether a fingerprint has an id. Its ids begin in the first of `frames`, behind those of `nth` fingerprints that
    /// begin there, and are in no other frames.
    ///
    /// # Errors
    /// `Damaged` if frames and index contradict each other; `Io`.
    pub(crate) fn has(&self, frames: Range<u64>, nth: usize, id: &str, scratch: &mut TextScratch) -> Result<bool> {
        let first = frames.start;
        id_search::in_pages(frames, |number| {
            self.with_frame(number, scratch, |frame| {
                let records = self.records_of(frame, (number == first).then_some(nth))?;
                id_search::in_page(records, |record| Ok(frame.text(record).cmp(id)))
            })
        })
    }

    /// The records of the `nth` fingerprint that begins in a frame; without a number, those that the frames before it
    /// left.
    fn records_of(&self, frame: &TextFrame, nth: Option<usize>) -> Result<Range<usize>> {
        let Some(nth) = nth else { return Ok(frame.continued()) };
        frame.range_of(nth).ok_or_else(|| self.no_ids())
    }
}
