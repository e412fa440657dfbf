//! Records with texts in order, chunk by chunk.

use crate::executor::Executor;
use crate::extsort::ahead::Ahead;
use crate::extsort::memory::{bytes_of, length};
use crate::extsort::merge_texts::{LENGTH_BYTES, merged};
use crate::extsort::runs::Runs;
use crate::extsort::text_chunk::{TextChunk, TextEntry};
use crate::extsort::texts::{FETCH, Slot, Texts};
use crate::fingerprint::Fingerprint;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum SortedTexts<F> {
    Memory(Arc<TextsInMemory<F>>),
    Runs(Arc<Runs>),
}

#[derive(Debug)]
pub(crate) struct TextsInMemory<F> {
    pub(crate) slots: Vec<Slot<F>>,
    pub(crate) texts: Texts,
    pub(crate) executor: Arc<Executor>,
}

impl<F: Fingerprint> SortedTexts<F> {
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self, Self::Memory(_))
    }

    /// The fingerprints in order, if nothing was written to a temporary file.
    pub(crate) fn in_memory(&self) -> Option<impl Iterator<Item = F>> {
        match self {
            Self::Memory(sorted) => Some(sorted.slots.iter().map(|slot| slot.fingerprint)),
            Self::Runs(_) => None,
        }
    }

    /// Bytes of all texts; equal records may be among them.
    pub(crate) fn text_bytes(&self) -> u64 {
        match self {
            Self::Memory(sorted) => sorted.texts.bytes(),
            Self::Runs(runs) => runs.file.length() - runs.records * (F::BYTES + LENGTH_BYTES) as u64,
        }
    }

    /// All records, ascending by fingerprint and the text's bytes, each once, in chunks that are not empty. The
    /// iterator, with the chunk it returned last, takes `memory` bytes at most, short of single records that take more.
    pub(crate) fn chunks(&self, memory: u64) -> Ahead<TextChunk<F>> {
        let records = match self {
            Self::Memory(sorted) => sorted.texts.count,
            Self::Runs(runs) => runs.records,
        };
        // A part for what is read, and two chunks: the one that the caller has, and the next one. The capacities for
        // entries and for texts have the proportion that all records have.
        let (buffers, chunk, texts) = (memory / 4, memory / 8 * 3, self.text_bytes());
        let each = bytes_of::<TextEntry<F>>(1) + texts.div_ceil(records.max(1));
        let entries = (chunk / each).clamp(1, records.max(1));
        let texts = chunk.saturating_sub(bytes_of::<TextEntry<F>>(length(entries))).min(texts).min(u64::from(u32::MAX));
        let make = move || TextChunk {
            entries: Vec::with_capacity(length(entries)),
            texts: Vec::with_capacity(length(texts)),
        };
        match self {
            Self::Runs(runs) => merged(runs, buffers, make),
            Self::Memory(sorted) => {
                let (sorted, mut next) = (Arc::clone(sorted), 0);
                Ahead::new(&Arc::clone(&sorted.executor), move || {
                    let (mut chunk, first) = (make(), next);
                    'full: for slots in sorted.slots.get(next..).unwrap_or_default().chunks(FETCH) {
                        sorted.texts.fetch(slots);
                        for slot in slots {
                            let text = sorted.texts.get(slot);
                            if !chunk.has_space(text.len()) {
                                break 'full;
                            }
                            chunk.push(slot.fingerprint, text);
                            next += 1;
                        }
                    }
                    Ok(Some(chunk).filter(|_| next > first))
                })
            }
        }
    }
}
