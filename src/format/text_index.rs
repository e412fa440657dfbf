//! The index of the frames of text ids, in chunks (format-spec/text-ids.md).
//!
//! A chunk describes up to 1,024 frames: the bytes of each, and how many fingerprints begin in it. It stores both
//! columns as the column's least value and the excesses over it, packed in as many bits as the largest needs.

use super::columns::{self, ChunkShape};
use super::fields::Fields;
use super::id_page;
use super::page::{self, Stream};
use crate::error::{Error, Result};

/// Most frames in a chunk; all but the last chunk are full.
const CHUNK: usize = 1024;
const SHAPE: ChunkShape<2> = ChunkShape {
    rows: "frames in chunk",
    most: CHUNK,
    columns: [("length", 2, 16), ("begun", 2, 16)],
    errors: ["the header of a chunk of the id index is not possible", "padding of a chunk of the id index is not zero"],
};
/// Fewest bytes of a frame: one for zstd's descriptor, one for the size, three for a block's header, one in the block,
/// and the checksum. Bounds the number of frames.
pub(crate) const MIN_LENGTH: u16 = 10;

/// A frame of texts, or a page of numbers or counts, as the index describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitEntry {
    pub(crate) length: u16,
    pub(crate) begun: u16,
}

impl UnitEntry {
    /// A page in which this many fingerprints begin.
    pub(crate) fn page(begun: u16) -> Self {
        Self { length: id_page::SIZE as u16, begun }
    }
}

pub(crate) fn write(entries: &[UnitEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, chunk) in (0u64..).zip(entries.chunks(CHUNK)) {
        let column = |value: fn(&UnitEntry) -> u64| chunk.iter().map(value).collect();
        let columns = [column(|entry| entry.length.into()), column(|entry| entry.begun.into())];
        let mut bytes = columns::write(&SHAPE, columns);
        page::seal(&mut bytes, Stream::IdIndex, number);
        out.append(&mut bytes);
    }
    out
}

/// Reads chunks to the end of the section and calls `visit` for each frame. `Damaged` if the frames do not fill a
/// section of `length` bytes exactly; no visited frame exceeds it.
pub(crate) fn parse(fields: &mut Fields<'_>, length: u64, mut visit: impl FnMut(UnitEntry)) -> Result<()> {
    let mut left = length;
    for number in 0.. {
        if fields.remaining() == 0 {
            break;
        }
        let start = fields.offset();
        let wrong = |message: &str| Error::damaged(message).at_offset(start);
        let mut chunk = columns::read(fields, &SHAPE, Stream::IdIndex, number)?;
        if chunk.rows < CHUNK && fields.remaining() > 0 {
            return Err(wrong("a chunk of the id index that is not the last one is not full"));
        }
        for _ in 0..chunk.rows {
            let row = chunk.next_row().map(|row| row.map(|value| u16::try_from(value).ok()));
            let entry = row.and_then(|[length, begun]| length.zip(begun)).filter(|&(length, _)| length >= MIN_LENGTH);
            let (length, begun) = entry.ok_or_else(|| wrong("a frame of ids with an impossible length or number"))?;
            left = left.checked_sub(length.into()).ok_or_else(|| wrong("frames of ids that exceed their section"))?;
            visit(UnitEntry { length, begun });
        }
    }
    if left > 0 { Err(fields.damaged("the id index does not describe all frames of ids")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_of_any_frames_round_trip(pairs in prop::collection::vec((MIN_LENGTH.., any::<u16>()), 0..3000)) {
            let entries: Vec<_> = pairs.into_iter().map(|(length, begun)| UnitEntry { length, begun }).collect();
            let length = entries.iter().map(|entry| u64::from(entry.length)).sum();
            let mut found = Vec::new();
            parse(&mut Fields::new(&write(&entries), 0), length, |entry| found.push(entry)).unwrap();
            prop_assert_eq!(found, entries);
        }
    }
}
