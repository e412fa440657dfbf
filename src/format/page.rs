//! Pages: what is read and checksummed (format-spec/segment.md).
//!
//! A page is 4 KiB, or one block where blocks are larger. Blocks fill it one after another, each up to its share of the
//! page, so that a whole number of them always fits; a CRC-32 closes it. The last page of a section ends behind its
//! last block. The checksum covers the page's place too ([`Stream`] and number): a page that was written elsewhere does
//! not pass.

use super::Parameters;
use crate::error::{Error, Result};
use crate::format::conventions::CHECKSUM;

/// Smallest page.
pub(crate) const MIN_SIZE: usize = 4096;

/// What a unit with a checksum of its own belongs to; its number is the first thing that the checksum covers, so that a
/// unit does not pass in the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Pages of blocks of a table.
    Data(u8),
    /// Code lengths of a table.
    Codes(u8),
    /// Chunks of a table's block index.
    Index(u8),
    /// Pages of ids.
    Ids,
    /// Chunks of the index of ids.
    IdIndex,
    /// The dictionary of text ids.
    IdDictionary,
}

impl Stream {
    /// Its number in checksums.
    fn number(self) -> u32 {
        match self {
            Self::Data(table) => u32::from(table),
            Self::Codes(table) => 0x100 | u32::from(table),
            Self::Index(table) => 0x200 | u32::from(table),
            Self::Ids => 0x300,
            Self::IdIndex => 0x400,
            Self::IdDictionary => 0x500,
        }
    }
}

/// How the blocks of a table lie in its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageLayout {
    /// Bytes of a whole page.
    pub(crate) size: usize,
    /// Blocks in a whole page.
    pub(crate) blocks: usize,
}

impl PageLayout {
    /// The layout for a legal block size.
    pub(crate) fn new(block_size: u32) -> Self {
        let size = MIN_SIZE.max(block_size as usize);
        Self { size, blocks: size / (block_size as usize).max(1) }
    }

    /// The layout of a table. Rows stand in pages of their own size, each of which is one block.
    pub(crate) fn of_table(parameters: &Parameters, table: usize) -> Self {
        if table == 0 && parameters.width() > 64 {
            return Self { size: MIN_SIZE, blocks: 1 };
        }
        Self::new(parameters.block_size())
    }

    /// The page that a block is in. A shift: pages and blocks are powers of two, and this is asked for every block.
    #[inline]
    pub(crate) fn page_of(self, block: usize) -> usize {
        block >> self.blocks.trailing_zeros()
    }

    /// Whether a block is the first one of its page.
    #[inline]
    pub(crate) fn begins_page(self, block: usize) -> bool {
        block & (self.blocks - 1) == 0
    }

    /// Bytes of a whole page that blocks may fill.
    pub(crate) fn payload(self) -> usize {
        self.size - CHECKSUM
    }

    /// Where block `slot` of a page has to end at the latest.
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

/// Appends the checksum of unit `number` of a stream.
pub(crate) fn seal(unit: &mut Vec<u8>, stream: Stream, number: u64) {
    let checksum = checksum(stream, number, unit);
    unit.extend_from_slice(&checksum.to_le_bytes());
}

/// Fills the page up to `size` bytes (with its checksum) and closes it.
pub(crate) fn close(page: &mut Vec<u8>, size: usize, stream: Stream, number: u64) {
    page.resize((size - CHECKSUM).max(page.len()), 0);
    seal(page, stream, number);
}

/// The payload of a page whose checksum holds.
///
/// # Errors
/// `Damaged` if it does not.
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
