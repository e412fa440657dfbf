//! Pages: the units of reading and checksums (format-spec/segment.md).
//!
//! A page has 4 KiB, or is one block if blocks are larger. Each block ends within its share of the page, so that a
//! whole number of blocks always fits; a CRC-32 closes the page. The last page of a section ends after its last block.
//! The checksum covers the page's place ([`Stream`] and number) too, so a misplaced page does not pass.

use super::Parameters;
use crate::error::{Error, Result};
use crate::format::CHECKSUM;

pub(crate) const MIN_SIZE: usize = 4096;

/// The section of a unit with its own checksum. The checksum covers the stream's number first, so that a unit does not
/// pass in the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Data(u8),
    Codes(u8),
    Index(u8),
    Ids,
    IdIndex,
    IdDictionary,
    Sketches,
    IndexDirectory(u8),
}

impl Stream {
    fn number(self) -> u32 {
        match self {
            Self::Data(table) => u32::from(table),
            Self::Codes(table) => 0x100 | u32::from(table),
            Self::Index(table) => 0x200 | u32::from(table),
            Self::Ids => 0x300,
            Self::IdIndex => 0x400,
            Self::IdDictionary => 0x500,
            Self::Sketches => 0x600,
            Self::IndexDirectory(table) => 0x700 | u32::from(table),
        }
    }
}

/// How the blocks of a table lie in its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageLayout {
    pub(crate) size: usize,
    pub(crate) blocks: usize,
}

impl PageLayout {
    pub(crate) fn new(block_size: u32) -> Self {
        let size = MIN_SIZE.max(block_size as usize);
        Self { size, blocks: size / (block_size as usize).max(1) }
    }

    /// The layout of a table. A page of rows is one block.
    pub(crate) fn of_table(parameters: &Parameters, table: usize) -> Self {
        if table == 0 && parameters.width() > 64 {
            return Self { size: MIN_SIZE, blocks: 1 };
        }
        Self::new(parameters.block_size())
    }

    /// The page of a block. A shift, because the caller asks for every block; pages and blocks are powers of two.
    #[inline]
    pub(crate) fn page_of(self, block: usize) -> usize {
        block >> self.blocks.trailing_zeros()
    }

    #[inline]
    pub(crate) fn begins_page(self, block: usize) -> bool {
        block & (self.blocks - 1) == 0
    }

    /// Bytes of a whole page that blocks may fill.
    pub(crate) fn payload(self) -> usize {
        self.size - CHECKSUM
    }

    /// Where block `slot` of a page must end at the latest.
    pub(crate) fn slot_end(self, slot: usize) -> usize {
        (slot + 1) * self.payload() / self.blocks
    }
}

/// The checksum of unit `number` (from 0) of a stream.
pub(crate) fn checksum(stream: Stream, number: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&stream.number().to_le_bytes());
    hasher.update(&number.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

pub(crate) fn seal(unit: &mut Vec<u8>, stream: Stream, number: u64) {
    let checksum = checksum(stream, number, unit);
    unit.extend_from_slice(&checksum.to_le_bytes());
}

/// Pads the page to `size` bytes (with its checksum) and closes it.
pub(crate) fn close(page: &mut Vec<u8>, size: usize, stream: Stream, number: u64) {
    page.resize((size - CHECKSUM).max(page.len()), 0);
    seal(page, stream, number);
}

/// The payload of a page; `Damaged` if its checksum does not hold.
pub(crate) fn open(page: &[u8], stream: Stream, number: u64) -> Result<&[u8]> {
    let (payload, found) = page.split_last_chunk::<CHECKSUM>().ok_or_else(|| Error::damaged("page of no length"))?;
    if checksum(stream, number, payload) != u32::from_le_bytes(*found) {
        return Err(Error::damaged("checksum of a page does not hold"));
    }
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fill_the_page_exactly() {
        for shift in 7..=16 {
            let layout = PageLayout::new(1 << shift);
            assert_eq!(layout.slot_end(layout.blocks - 1), layout.payload());
            assert!(layout.slot_end(0) + 1 >= layout.payload() / layout.blocks);
        }
        assert_eq!(PageLayout::new(512), PageLayout { size: 4096, blocks: 8 });
        assert_eq!(PageLayout::new(65536), PageLayout { size: 65536, blocks: 1 });
    }

    #[test]
    fn a_page_in_another_place_does_not_pass() {
        let mut page = b"payload".to_vec();
        close(&mut page, 20, Stream::Data(3), 5);
        assert_eq!(page.len(), 20);
        assert_eq!(open(&page, Stream::Data(3), 5).unwrap().get(..7), Some(&b"payload"[..]));
        for (stream, number) in [(Stream::Data(3), 6), (Stream::Data(2), 5), (Stream::Index(3), 5), (Stream::Ids, 5)] {
            assert!(open(&page, stream, number).is_err());
        }
    }
}
