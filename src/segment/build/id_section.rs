//! The ids of chunks to the ids section of a segment.

use crate::error::{Error, Result};
use crate::extsort::{NumberedRecord, Spool, TextChunk, Workspace};
use crate::fingerprint::{Fingerprint, IdKind};
use crate::format::id_index;
use crate::format::id_page::{self, IdEntry};
use crate::segment::build::chunk::{Expected, RecordChunk};
use crate::segment::text_ids::encoder::TextEncoder;
use crate::segment::writer::EncodedIds;

pub(crate) struct IdSection<F> {
    kind: IdKind,
    numbers: IdEncoder,
    texts: Option<TextEncoder>,
    /// Texts that wait for the encoder's dictionary.
    waiting: TextChunk<F>,
    /// Bytes of texts that are enough for a dictionary.
    enough: u64,
    expected: Expected,
    last: Option<F>,
    counted: Option<NumberedRecord<F>>,
    pages: Spool,
}

impl<F: Fingerprint> IdSection<F> {
    pub(crate) fn new(kind: IdKind, expected: Expected, workspace: &Workspace) -> Self {
        Self {
            kind,
            numbers: IdEncoder::default(),
            texts: None,
            waiting: TextChunk::default(),
            enough: TextEncoder::SAMPLE.min(workspace.memory / 16),
            expected,
            last: None,
            counted: None,
            pages: Spool::within(workspace),
        }
    }

    pub(crate) fn push(&mut self, batch: &RecordChunk<'_, F>) -> Result<()> {
        match (batch, self.kind) {
            (RecordChunk::Numbers(entries), _) => self.push_numbers(entries, 0)?,
            (RecordChunk::Unnumbered(entries), IdKind::None) => {
                self.count(entries.iter().map(|entry| NumberedRecord { id: 1, ..*entry }));
            }
            (RecordChunk::Fingerprints(all), _) => {
                self.count(all.iter().map(|&fingerprint| NumberedRecord { fingerprint, id: 1 }));
            }
            (RecordChunk::Unnumbered(entries), _) => self.push_numbers(entries, self.expected.first_number)?,
            (RecordChunk::Counts(entries), _) => self.count(entries.iter().copied()),
            (RecordChunk::Texts(chunk), _) => return self.push_texts(chunk),
        }
        self.pages.append(&mut self.numbers.pages)
    }

    fn push_numbers(&mut self, entries: &[NumberedRecord<F>], first: u64) -> Result<()> {
        let last = &mut self.last;
        for entries in entries.chunks(TRANSFER) {
            self.numbers.push(entries.iter().map(|entry| {
                let begins = last.replace(entry.fingerprint) != Some(entry.fingerprint);
                IdEntry { id: entry.id.wrapping_add(first), begins }
            }));
            self.pages.append(&mut self.numbers.pages)?;
        }
        Ok(())
    }

    fn count(&mut self, entries: impl Iterator<Item = NumberedRecord<F>>) {
        let counted = &mut self.counted;
        self.numbers.push(entries.filter_map(|entry| match counted {
            Some(counted) if counted.fingerprint == entry.fingerprint => {
                counted.id = counted.id.saturating_add(entry.id);
                None
            }
            _ => counted.replace(entry).map(|done| IdEntry { id: done.id, begins: true }),
        }));
    }

    /// Chunks wait until there are enough texts for a dictionary. A chunk is a range of fingerprints, so its texts are
    /// a fair sample.
    fn push_texts(&mut self, chunk: &TextChunk<F>) -> Result<()> {
        let enough = |chunk: &TextChunk<F>| chunk.texts.len() as u64 >= self.enough;
        if self.texts.is_some() || self.waiting.len() == 0 && enough(chunk) {
            return self.encode_texts(chunk);
        }
        chunk.records().for_each(|(fingerprint, text)| self.waiting.push(fingerprint, text));
        if enough(&self.waiting) { self.encode_waiting() } else { Ok(()) }
    }

    fn encode_waiting(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.encode_texts(&waiting)
    }

    fn encode_texts(&mut self, chunk: &TextChunk<F>) -> Result<()> {
        let texts = self.texts.get_or_insert_with(|| {
            let sample = chunk.records().filter_map(|(_, text)| std::str::from_utf8(text).ok());
            TextEncoder::new(sample, self.expected.text_bytes.max(chunk.texts.len() as u64))
        });
        for (number, (fingerprint, text)) in chunk.records().enumerate() {
            let text = std::str::from_utf8(text).map_err(|_| Error::damaged("temporary data hold no text"))?;
            texts.push(text, self.last.replace(fingerprint) != Some(fingerprint));
            if number % TRANSFER == 0 {
                self.pages.append(&mut texts.pages)?;
            }
        }
        self.pages.append(&mut texts.pages)
    }

    /// Encodes the waiting texts; returns the pages and their description.
    pub(crate) fn finish(mut self) -> Result<(Spool, EncodedIds)> {
        if self.waiting.len() > 0 {
            self.encode_waiting()?;
        }
        if let Some(texts) = self.texts {
            let (mut pages, encoded) = texts.finish();
            self.pages.append(&mut pages)?;
            return Ok((self.pages, encoded));
        }
        let last = self.counted.take().map(|done| IdEntry { id: done.id, begins: true });
        self.numbers.push(last.into_iter());
        let (mut pages, index) = self.numbers.finish();
        self.pages.append(&mut pages)?;
        Ok((self.pages, EncodedIds { index, dictionary: Vec::new() }))
    }
}

/// Records between two transfers of finished pages.
const TRANSFER: usize = 1 << 16;

const WAITING: usize = 4 * id_page::MAX_RECORDS;

/// Encodes the ids of records sorted by fingerprint, then id, and distinct. Finished pages gather until the caller
/// takes them.
#[derive(Default)]
struct IdEncoder {
    waiting: Vec<IdEntry>,
    pages: Vec<u8>,
    begun: Vec<u16>,
}

impl IdEncoder {
    fn push(&mut self, entries: impl Iterator<Item = IdEntry>) {
        for entry in entries {
            self.waiting.push(entry);
            if self.waiting.len() == WAITING {
                // No page counts more records, so later ones do not matter to it.
                self.fill(id_page::MAX_RECORDS);
            }
        }
    }

    /// Makes pages while more than `least` records wait.
    fn fill(&mut self, least: usize) {
        let mut done = 0;
        while let Some(rest) = self.waiting.get(done..).filter(|rest| rest.len() > least) {
            let mut page = Vec::with_capacity(id_page::SIZE);
            let (now, behind) = rest.split_at(id_page::write(rest, &mut page));
            id_page::close(&mut page, self.begun.len() as u64, behind.is_empty());
            self.pages.append(&mut page);
            self.begun.push(u16::try_from(now.iter().filter(|entry| entry.begins).count()).unwrap_or(u16::MAX));
            done += now.len();
        }
        self.waiting.drain(..done);
    }

    /// Encodes the waiting records; returns the remaining pages and the index.
    fn finish(mut self) -> (Vec<u8>, Vec<u8>) {
        self.fill(0);
        (self.pages, id_index::write(&self.begun))
    }
}
