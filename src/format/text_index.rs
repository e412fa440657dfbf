//! The index of the frames of text ids, in chunks (format-spec/text-ids.md).
//!
//! A chunk describes up to 1,024 frames: how many bytes each takes, and how many fingerprints begin in it. Both columns
//! are stored as the column's least value and the excesses over it, packed in as many bits as the largest needs.

use super::fields::Fields;
use super::page::{self, Stream};
use crate::bits::{BitWriter, Forward, bit_length};
use crate::error::{Error, Result};

/// Most frames in a chunk; all but the last chunk have so many.
pub(crate) const CHUNK: usize = 1024;
/// Fewest bytes of a frame: one for zstd's descriptor, one for the size, three for a block's header, one in the block,
/// and the checksum. So frames without number cannot be claimed.
pub(crate) const MIN_LENGTH: u16 = 10;

/// A frame of texts, or a page of numbers or counts, as the index describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitEntry {
    /// Number of its bytes in the file, with its checksum.
    pub(crate) length: u16,
    /// How many fingerprints begin in it.
    pub(crate) begun: u16,
}

impl UnitEntry {
    /// A page in which so many fingerprints begin.
    pub(crate) fn page(begun: u16) -> Self {
        Self { length: 4096, begun }
    }
}

/// The bytes of the index.
pub(crate) fn write(entries: &[UnitEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, chunk) in (0u64..).zip(entries.chunks(CHUNK)) {
        let mut bytes = write_chunk(chunk);
        page::seal(&mut bytes, Stream::IdIndex, number);
        out.append(&mut bytes);
    }
    out
}

fn write_chunk(chunk: &[UnitEntry]) -> Vec<u8> {
    let columns: [Vec<u16>; 2] =
        [chunk.iter().map(|entry| entry.length).collect(), chunk.iter().map(|entry| entry.begun).collect()];
    let columns = columns.map(|column| {
        let least = column.iter().copied().min().unwrap_or(0);
        let width = bit_length(column.iter().map(|&value| u64::from(value - least)).max().unwrap_or(0));
        (column, least, width)
    });
    let mut out = u16::try_from(chunk.len()).unwrap_or(0).to_le_bytes().to_vec();
    out.extend(columns.iter().map(|&(_, _, width)| u8::try_from(width).unwrap_or(0)));
    columns.iter().for_each(|(_, least, _)| out.extend_from_slice(&least.to_le_bytes()));
    let mut writer = BitWriter::new(&mut out);
    for (column, least, width) in &columns {
        column.iter().for_each(|&value| writer.push(u64::from(value - least), *width));
    }
    writer.finish();
    out
}

/// Reads chunks to the end of the section, and calls `visit` for each frame, none of which takes bytes that a section
/// of ids of `length` bytes does not have.
///
/// # Errors
/// `Damaged` if a chunk does not hold together, or the frames do not fill that section exactly.
pub(crate) fn parse(fields: &mut Fields<'_>, length: u64, mut visit: impl FnMut(UnitEntry)) -> Result<()> {
    let mut left = length;
    for number in 0.. {
        if fields.remaining() == 0 {
            break;
        }
        let start = fields.offset();
        let before = fields.taken().len();
        let wrong = |message: &str| Error::damaged(message).at_offset(start);
        let count = usize::from(fields.u16("frames in chunk")?);
        let widths = [fields.u8("length bits")?, fields.u8("begun bits")?].map(u32::from);
        let leasts = [fields.u16("least length")?, fields.u16("least begun")?];
        if !(1..=CHUNK).contains(&count) || widths.iter().any(|&width| width > 16) {
            return Err(wrong("the header of a chunk of the id index is not possible"));
        }
        let columns = widths.map(|width| count * width as usize);
        let packed = columns.iter().sum::<usize>();
        let bytes = fields.bytes("packed columns", packed.div_ceil(8), &format_args!("{packed} bits"))?;
        let chunk = fields.taken().get(before..).unwrap_or_default();
        fields.checksum_of(page::checksum(Stream::IdIndex, number, chunk))?;
        if count < CHUNK && fields.remaining() > 0 {
            return Err(wrong("a chunk of the id index that is not the last one is not full"));
        }
        let [mut lengths, mut begun] = [Forward::new(bytes, 0), Forward::new(bytes, columns[0])];
        for _ in 0..count {
            let entry = narrow(leasts[0], lengths.read(widths[0])).zip(narrow(leasts[1], begun.read(widths[1])));
            let entry = entry.filter(|&(length, _)| length >= MIN_LENGTH);
            let (length, begun) = entry.ok_or_else(|| wrong("a frame of ids with an impossible length or number"))?;
            left = left.checked_sub(length.into()).ok_or_else(|| wrong("frames of ids that exceed their section"))?;
            visit(UnitEntry { length, begun });
        }
        if begun.position() < packed || packed % 8 != 0 && bytes.last().is_some_and(|last| last >> (packed % 8) != 0) {
            return Err(wrong("padding of a chunk of the id index is not zero"));
        }
    }
    if left > 0 { Err(fields.damaged("the id index does not describe all frames of ids")) } else { Ok(()) }
}

fn narrow(least: u16, excess: u64) -> Option<u16> {
    u16::try_from(u64::from(least) + excess).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8], length: u64) -> Result<Vec<UnitEntry>> {
        let mut entries = Vec::new();
        parse(&mut Fields::new(bytes, 0), length, |entry| entries.push(entry)).map(|()| entries)
    }

    #[test]
    fn no_frames_take_no_bytes() {
        assert!(write(&[]).is_empty());
        assert_eq!(read(&[], 0).unwrap(), []);
        assert!(read(&[], 1).is_err());
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let entries: Vec<_> = (0..5).map(|n| UnitEntry { length: 900 + n * 37, begun: n % 3 }).collect();
        let length = entries.iter().map(|entry| u64::from(entry.length)).sum();
        let bytes = write(&entries);
        assert_eq!(read(&bytes, length).unwrap(), entries);
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&bytes, length).is_err());
        }
        (0..bytes.len()).for_each(|end| assert!(read(&bytes[..end], length).is_err()));
        assert!(read(&bytes, length - 1).is_err() && read(&bytes, length + 1).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(pairs in prop::collection::vec((MIN_LENGTH.., any::<u16>()), 0..3000)) {
            let entries: Vec<_> = pairs.into_iter().map(|(length, begun)| UnitEntry { length, begun }).collect();
            let length = entries.iter().map(|entry| u64::from(entry.length)).sum();
            prop_assert_eq!(read(&write(&entries), length).unwrap(), entries);
        }
    }
}
