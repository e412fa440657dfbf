//! Wide fingerprints in ascending order to pages of rows and their index.

use super::table_writer::EncodedTable;
use crate::codec::{BlockKind, Codec, Trainer};
use crate::fingerprint::Fingerprint;
use crate::format::index::{BlockEntry, IndexCodec, rows_per_page};
use crate::format::page::{self, Stream};

/// Encodes the first table of wide fingerprints. Pages gather until they are taken.
pub(crate) struct RowEncoder {
    index: Vec<BlockEntry>,
    page: Vec<u8>,
    /// The 64 leading bits of the last row.
    head: u64,
    pages: Vec<u8>,
    bytes: usize,
}

impl RowEncoder {
    pub(crate) fn new(width: u32) -> Self {
        Self { index: Vec::new(), page: Vec::new(), head: 0, pages: Vec::new(), bytes: (width / 8) as usize }
    }

    pub(crate) fn push<F: Fingerprint>(&mut self, fingerprints: &[F]) {
        let full = rows_per_page(self.bytes) * self.bytes;
        for &fingerprint in fingerprints {
            // A full page is known not to be the last when there is a next row.
            if self.page.len() == full {
                self.close(page::MIN_SIZE);
            }
            fingerprint.write_le(&mut self.page);
            self.head = fingerprint.word(0);
        }
    }

    fn close(&mut self, size: usize) {
        let number = self.index.len() as u64;
        let narrow = |value: usize| u16::try_from(value).unwrap_or(u16::MAX);
        let (count, length) = (narrow(self.page.len() / self.bytes), narrow(self.page.len()));
        self.index.push(BlockEntry { key: self.head, count, length, kind: BlockKind::Rows });
        page::close(&mut self.page, size, Stream::Data(0), number);
        self.pages.append(&mut self.page);
    }

    pub(crate) fn pages(&mut self) -> &mut Vec<u8> {
        &mut self.pages
    }

    /// Closes the last page; returns the remaining pages and their description.
    pub(crate) fn finish(mut self) -> (Vec<u8>, EncodedTable) {
        if !self.page.is_empty() {
            self.close(self.page.len() + crate::format::CHECKSUM);
        }
        // Rows need no code; the section is that of a table without one.
        let codes = Trainer::new(Codec::Adaptive).finish();
        (self.pages, EncodedTable { codes, index: self.index, codec: IndexCodec::Rows(self.bytes) })
    }
}
