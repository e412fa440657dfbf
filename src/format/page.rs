//! Pages: what is read and checksummed (format-spec/segment.md).
//!
//! A page is 4 KiB, or one block where blocks are larger. Blocks fill it one after another, each up to its share of the
//! page, so that a whole number of them always fits; a CRC-32 closes it. The last page of a section ends behind its last
//! block. The checksum covers the page's place too: a page that was written elsewhere does not pass.

use super::CHECKSUM;
use crate::error::{Error, Result};

/// Smallest page.
pub(crate) const MIN_SIZE: usize = 4096;

/// What a section's page checksums begin with: the table's number, or this for the pages of ids.
pub(crate) const IDS_STREAM: u32 = u32::MAX;

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

    /// Bytes of a whole page that blocks may fill.
    pub(crate) fn payload(self) -> usize {
        self.size - CHECKSUM
    }

    /// Where block `slot` of a page has to end at the latest.
    pub(crate) fn slot_end(self, slot: usize) -> usize {
        (slot + 1) * self.payload() / self.blocks
    }
}

/// The checksum of page `number` of a stream of pages.
pub(crate) fn checksum(stream: u32, number: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&stream.to_le_bytes());
    hasher.update(&number.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// Fills the page up to `size` bytes (with its checksum) and closes it.
pub(crate) fn close(page: &mut Vec<u8>, size: usize, stream: u32, number: u64) {
    page.resize((size - CHECKSUM).max(page.len()), 0);
    let checksum = checksum(stream, number, page);
    page.extend_from_slice(&checksum.to_le_bytes());
}

/// The payload of a page whose checksum holds.
///
/// # Errors
/// `Damaged` if it does not.
pub(crate) fn open(page: &[u8], stream: u32, number: u64) -> Result<&[u8]> {
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
        close(&mut page, 20, 3, 5);
        assert_eq!(page.len(), 20);
        assert_eq!(open(&page, 3, 5).unwrap().get(..7), Some(&b"payload"[..]));
        assert!(open(&page, 3, 6).is_err() && open(&page, 2, 5).is_err());
    }
}
