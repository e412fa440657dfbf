//! Encodes the primary table, whose keys are the fingerprints: compressed, or as rows if they are wide.

use crate::codec::{BlockKind, Codes};
use crate::fingerprint::Fingerprint;
use crate::format::index::{BlockEntry, IndexCodec, rows_per_page};
use crate::format::page::{self, Stream};
use crate::format::parameters::Parameters;
use crate::segment::table_writer::{EncodedTable, TableEncoder};

pub(crate) enum PrimaryTable {
    Keys(Box<TableEncoder>),
    Rows(RowEncoder),
}

impl PrimaryTable {
    /// An encoder whose code is trained on these first fingerprints.
    pub(crate) fn new<F: Fingerprint>(parameters: &Parameters, sample: &[F]) -> Self {
        if F::WIDTH > 64 {
            return Self::Rows(RowEncoder::new(F::WIDTH));
        }
        Self::trained(parameters, &F::leading_words(sample))
    }

    /// An encoder of 64-bit fingerprints whose code is trained on these.
    pub(crate) fn trained(parameters: &Parameters, sample: &[u64]) -> Self {
        Self::Keys(Box::new(TableEncoder::new(parameters, 0, sample)))
    }

    pub(crate) fn push<F: Fingerprint>(&mut self, fingerprints: &[F]) {
        match self {
            Self::Keys(encoder) => encoder.push(&F::leading_words(fingerprints)),
            Self::Rows(encoder) => encoder.push(fingerprints),
        }
    }

    pub(crate) fn pages(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Keys(encoder) => &mut encoder.pages,
            Self::Rows(encoder) => &mut encoder.pages,
        }
    }

    pub(crate) fn finish(self) -> (Vec<u8>, EncodedTable) {
        match self {
            Self::Keys(encoder) => encoder.finish(),
            Self::Rows(encoder) => encoder.finish(),
        }
    }
}

/// Encodes the primary table of wide fingerprints. Pages gather until they are taken.
pub(crate) struct RowEncoder {
    index: Vec<BlockEntry>,
    page: Vec<u8>,
    /// The 64 leading bits of the last row.
    head: u64,
    pages: Vec<u8>,
    bytes: usize,
}

impl RowEncoder {
    fn new(width: u32) -> Self {
        Self { index: Vec::new(), page: Vec::new(), head: 0, pages: Vec::new(), bytes: (width / 8) as usize }
    }

    fn push<F: Fingerprint>(&mut self, fingerprints: &[F]) {
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

    /// Closes the last page; returns the remaining pages and their description.
    fn finish(mut self) -> (Vec<u8>, EncodedTable) {
        if !self.page.is_empty() {
            self.close(self.page.len() + crate::format::CHECKSUM);
        }
        // Rows need no code; the section is that of a table without one.
        let codes = Codes::Adaptive { flips: None };
        (self.pages, EncodedTable { codes, index: self.index, codec: IndexCodec::Rows(self.bytes) })
    }
}
