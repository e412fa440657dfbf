//! Records with texts in order, chunk by chunk.

use crate::error::Result;
use crate::executor::Executor;
use crate::extsort::ahead::{Ahead, ReadAhead};
use crate::extsort::lengths::{bytes_of, length};
use crate::extsort::merge::MergedTexts;
use crate::extsort::text_runs::TextRuns;
use crate::extsort::texts::{FETCH, LENGTH_BYTES, Slot, Texts};
use crate::fingerprint::Fingerprint;
use std::sync::Arc;

/// Records with texts that were sorted.
#[derive(Debug)]
pub(crate) struct SortedTexts<F> {
    count: u64,
    records: Records<F>,
}

#[derive(Clone, Debug)]
enum Records<F> {
    Memory(Arc<Kept<F>>),
    Runs(Arc<TextRuns<F>>),
}

/// Records that stayed in memory: distinct, in order.
#[derive(Debug)]
pub(crate) struct Kept<F> {
    pub(crate) slots: Vec<Slot<F>>,
    pub(crate) texts: Texts,
    pub(crate) executor: Arc<Executor>,
}

impl<F: Fingerprint> SortedTexts<F> {
    pub(crate) fn of_memory(count: u64, kept: Kept<F>) -> Self {
        Self { count, records: Records::Memory(Arc::new(kept)) }
    }

    pub(crate) fn in_runs(count: u64, runs: TextRuns<F>) -> Self {
        Self { count, records: Records::Runs(Arc::new(runs)) }
    }

    /// Number of records that were pushed, equal ones included.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was written to a temporary file.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.records, Records::Memory(_))
    }

    /// The fingerprints in order, if nothing was written to a temporary file.
    pub(crate) fn in_memory(&self) -> Option<Vec<F>> {
        match &self.records {
            Records::Memory(kept) => Some(kept.slots.iter().map(|slot| slot.fingerprint).collect()),
            Records::Runs(_) => None,
        }
    }

    /// Bytes of all texts; equal records may be among them.
    pub(crate) fn text_bytes(&self) -> u64 {
        let (bytes, each, records) = match &self.records {
            Records::Memory(kept) => (kept.texts.bytes(), LENGTH_BYTES, self.count),
            Records::Runs(runs) => {
                (runs.file.as_ref().map_or(0, |file| file.length()), F::BYTES + LENGTH_BYTES, runs.records)
            }
        };
        bytes.saturating_sub(records * each as u64)
    }

    /// All records, ascending by fingerprint and the text's bytes, each once. The iterator, with the chunk it returned
    /// last, takes `memory` bytes at most, short of single records that take more.
    pub(crate) fn chunks(&self, memory: u64) -> TextChunks<F> {
        // A part for what is read, and two chunks: the one that the caller has, and the next one.
        let (buffers, chunk) = (memory / 4, memory / 8 * 3);
        let (input, records) = match &self.records {
            // With those that were dropped, which does for the proportion.
            Records::Memory(kept) => (Input::Memory(Arc::clone(kept), 0), self.count),
            Records::Runs(runs) => (Input::Runs(MergedTexts::new(Arc::clone(runs), buffers)), runs.records),
        };
        let texts = self.text_bytes();
        // Room for entries and for texts in the proportion that all records have.
        let each = bytes_of::<TextEntry<F>>(1) + texts.div_ceil(records.max(1));
        let entries = (chunk / each).clamp(1, records.max(1));
        let room = chunk.saturating_sub(entries * bytes_of::<TextEntry<F>>(1)).min(texts).min(u64::from(u32::MAX));
        TextChunks(Ahead::new(Filler { input, entries: length(entries), texts: length(room) }))
    }

    #[cfg(test)]
    pub(crate) fn peak(&self) -> u64 {
        match &self.records {
            Records::Memory(_) => 0,
            Records::Runs(runs) => runs.peak.most(),
        }
    }

    #[cfg(test)]
    pub(crate) fn runs(&self) -> usize {
        match &self.records {
            Records::Memory(_) => 0,
            Records::Runs(runs) => runs.runs.len(),
        }
    }
}

/// A record of a chunk: fingerprint, and offset and length of its text in the chunk's.
pub(crate) type TextEntry<F> = (F, u32, u32);

/// Some records, ascending.
#[derive(Debug, Default)]
pub(crate) struct TextChunk<F> {
    /// Fingerprint, and offset and length in `texts`.
    pub(crate) entries: Vec<TextEntry<F>>,
    /// The texts, one behind the other.
    pub(crate) texts: Vec<u8>,
}

impl<F: Fingerprint> TextChunk<F> {
    /// The records: fingerprints and the bytes of their texts.
    pub(crate) fn records(&self) -> impl Iterator<Item = (F, &[u8])> {
        self.entries.iter().map(|entry| (entry.0, self.text(entry)))
    }

    /// The text of an entry.
    pub(crate) fn text(&self, &(_, offset, length): &TextEntry<F>) -> &[u8] {
        self.texts.get(offset as usize..).and_then(|texts| texts.get(..length as usize)).unwrap_or_default()
    }

    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of records and texts.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<TextEntry<F>>() + self.texts.len()
    }

    fn is_last(&self, fingerprint: F, text: &[u8]) -> bool {
        self.entries.last().is_some_and(|entry| entry.0 == fingerprint && self.text(entry) == text)
    }

    /// Whether there is room for another text of so many bytes; there is always for the first one.
    fn has_room(&self, bytes: usize) -> bool {
        self.entries.is_empty()
            || self.entries.len() < self.entries.capacity() && self.texts.capacity() - self.texts.len() >= bytes
    }

    #[expect(clippy::cast_possible_truncation, reason = "texts have less than 4 GiB together")]
    pub(crate) fn push(&mut self, fingerprint: F, text: &[u8]) {
        if self.entries.is_empty() {
            self.texts.reserve_exact(text.len());
        }
        self.entries.push((fingerprint, self.texts.len() as u32, text.len() as u32));
        self.texts.extend_from_slice(text);
    }
}

/// All records, chunk by chunk. No chunk is empty.
#[derive(Debug)]
pub(crate) struct TextChunks<F: Fingerprint>(Ahead<Filler<F>>);

impl<F: Fingerprint> Iterator for TextChunks<F> {
    type Item = Result<TextChunk<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

/// Fills chunks.
#[derive(Debug)]
struct Filler<F> {
    input: Input<F>,
    /// Room in a chunk for records and for the bytes of their texts.
    entries: usize,
    texts: usize,
}

/// Where records come from.
#[derive(Debug)]
enum Input<F> {
    /// Those in memory from this one on.
    Memory(Arc<Kept<F>>, usize),
    Runs(MergedTexts<F>),
}

impl<F: Fingerprint> Input<F> {
    fn start(&mut self) -> Result<()> {
        match self {
            Self::Memory(..) => self.fetch(),
            Self::Runs(merge) => merge.start()?,
        }
        Ok(())
    }

    /// Fetches the texts of the next records in memory.
    fn fetch(&self) {
        if let Self::Memory(kept, next) = self {
            let slots = kept.slots.get(*next..).unwrap_or_default();
            kept.texts.fetch(slots.get(..FETCH).unwrap_or(slots));
        }
    }

    fn least(&self) -> Option<(F, &[u8])> {
        match self {
            Self::Memory(kept, next) => kept.slots.get(*next).map(|slot| (slot.fingerprint, kept.texts.get(slot))),
            Self::Runs(merge) => merge.least(),
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Self::Memory(_, next) => {
                *next += 1;
                if next.is_multiple_of(FETCH) {
                    self.fetch();
                }
            }
            Self::Runs(merge) => merge.advance()?,
        }
        Ok(())
    }
}

impl<F: Fingerprint> ReadAhead for Filler<F> {
    type Chunk = TextChunk<F>;

    fn next_chunk(&mut self) -> Result<Option<TextChunk<F>>> {
        self.input.start()?;
        let mut chunk = TextChunk { entries: Vec::with_capacity(self.entries), texts: Vec::with_capacity(self.texts) };
        while let Some((fingerprint, text)) = self.input.least() {
            // Equal records come one behind the other, and a chunk ends behind the last one of them.
            if !chunk.is_last(fingerprint, text) {
                if !chunk.has_room(text.len()) {
                    break;
                }
                chunk.push(fingerprint, text);
            }
            self.input.advance()?;
        }
        if let Input::Runs(merge) = &self.input {
            let held = bytes_of::<TextEntry<F>>(chunk.entries.capacity()) + chunk.texts.capacity() as u64;
            merge.runs.peak.note(2 * held + merge.held());
        }
        Ok(Some(chunk).filter(|chunk| !chunk.entries.is_empty()))
    }

    fn executor(&self) -> &Arc<Executor> {
        match &self.input {
            Input::Memory(kept, _) => &kept.executor,
            Input::Runs(merge) => &merge.runs.executor,
        }
    }
}
