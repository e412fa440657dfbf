//! Finding frames without their index: each one tells its own length, and its checksum that it stands in its place.

use super::super::file::SegmentFile;
use super::TextIds;
use super::packing::{Unpacker, frame_length};
use super::reader::read_dictionary;
use crate::format::footer::Span;
use crate::format::page::{self, Stream};
use crate::format::text_frame::{MAX_PAYLOAD, TextFrame};
use crate::format::text_index::FrameEntry;
use std::sync::Arc;

/// More than any frame takes in a file.
const LONGEST: u64 = 2 * MAX_PAYLOAD as u64;

impl TextIds {
    /// Makes the index from the frames themselves, up to the first one that does not hold. Without the dictionary no
    /// frame can be read.
    pub(crate) fn walk(file: &Arc<SegmentFile>, ids: Span, dictionary: Span) -> Self {
        let Ok(dictionary) = read_dictionary(file, dictionary) else {
            return Self::of_frames(file, ids, Vec::new(), None);
        };
        let (mut frames, mut at, mut buffer) = (Vec::new(), ids.offset, Vec::new());
        let (mut unpacker, mut frame) = (Unpacker::default(), TextFrame::default());
        while at < ids.end() {
            let span = Span { offset: at, length: LONGEST.min(ids.end() - at) };
            let bytes = file.read(span, &mut buffer).unwrap_or_default();
            let unit = frame_length(bytes).and_then(|length| bytes.get(..length)).unwrap_or_default();
            let Ok(packed) = page::open(unit, Stream::Ids, frames.len() as u64) else { break };
            let read = unpacker.unpack(packed, dictionary.as_ref()).and_then(|payload| frame.parse(payload));
            let entry = (u16::try_from(unit.len()), u16::try_from(frame.begun()));
            let (Ok(()), (Ok(length), Ok(begun))) = (read, entry) else { break };
            frames.push(FrameEntry { length, begun });
            at += u64::from(length);
        }
        Self::of_frames(file, ids, frames, dictionary)
    }
}
