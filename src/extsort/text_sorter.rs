//! Sorting records with texts.

use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::extsort::memory::{Peak, bytes_of, length};
use crate::extsort::merge_texts::LENGTH_BYTES;
use crate::extsort::radix;
use crate::extsort::runs::{Spills, transfer};
use crate::extsort::sorted_texts::{SortedTexts, TextsInMemory};
use crate::extsort::texts::{FETCH, PIECE, Slot, Texts};
use crate::extsort::workspace::Workspace;
use crate::fingerprint::Fingerprint;
use rayon::prelude::*;
use std::sync::Arc;

const LEAST: usize = 1 << 8;
/// More records with one fingerprint than this are sorted by all threads.
const LARGE: usize = 1 << 16;

/// Sorts any number of records, fingerprints with texts, within a given memory: by fingerprint, then the text's bytes.
#[derive(Debug)]
pub(crate) struct TextSorter<F: Fingerprint> {
    executor: Arc<Executor>,
    memory: u64,
    transfer: u64,
    slots: Vec<Slot<F>>,
    texts: Texts,
    spills: Spills,
    peak: Peak,
}

impl<F: Fingerprint> TextSorter<F> {
    /// A sorter whose buffers take no more than `memory` bytes, short of a single record that takes more. Nothing is
    /// written, and the directory is not touched, before the memory is full.
    pub(crate) fn new(workspace: &Workspace, memory: u64) -> Self {
        let (executor, transfer) = (Arc::clone(&workspace.executor), transfer(memory));
        let (spills, texts, peak) = (Spills::new(workspace, transfer), Texts::default(), Peak::default());
        Self { executor, memory, transfer, slots: Vec::new(), texts, spills, peak }
    }

    /// Takes a record. Fails if the text has 4 GiB. If a run could not be written, all further calls fail as well.
    pub(crate) fn push(&mut self, fingerprint: F, text: &[u8]) -> Result<()> {
        let bytes = text.len() + LENGTH_BYTES;
        if u32::try_from(bytes).is_err() {
            return Err(Error::invalid(format!("a text has {} bytes", text.len())));
        }
        if (self.slots.len() == self.slots.capacity() || !self.texts.has_space(text.len())) && !self.make_space(bytes) {
            self.spill()?;
            if !self.make_space(bytes) {
                // It alone is larger than the memory.
                self.slots.reserve_exact(1);
                self.texts.add_piece(bytes);
            }
        }
        let place = self.texts.push(text);
        self.slots.push(Slot { fingerprint, place });
        Ok(())
    }

    /// Makes space for one more record, whose text takes this many bytes, if the memory allows for it.
    fn make_space(&mut self, bytes: usize) -> bool {
        if !self.texts.has_space(bytes - LENGTH_BYTES) {
            let piece = length(PIECE.min(self.memory / 16)).max(bytes);
            if self.held(self.slots.capacity()) + piece as u64 > self.memory {
                return false;
            }
            self.texts.add_piece(piece);
        }
        let capacity = self.slots.capacity();
        if self.slots.len() == capacity {
            // By a quarter only, as texts need the rest. While it grows the old buffer may be there too: no more than
            // is set aside for sorting, which comes later.
            let least = LEAST.min(length(self.memory / 16 / bytes_of::<Slot<F>>(1).max(1)).max(1));
            let larger = (capacity + capacity / 4).max(capacity + 1).max(least);
            if self.held(larger) > self.memory {
                return false;
            }
            self.slots.reserve_exact(larger - capacity);
        }
        self.peak.note(self.held(self.slots.capacity()));
        true
    }

    /// Bytes that are taken, with this many slots, when these are sorted.
    fn held(&self, slots: usize) -> u64 {
        bytes_of::<Slot<F>>(2 * slots) + self.texts.capacity + self.transfer
    }

    /// The records pushed, in order.
    pub(crate) fn finish(mut self) -> Result<SortedTexts<F>> {
        if self.spills.is_empty() {
            let slots = self.sort()?;
            return Ok(SortedTexts::Memory(Arc::new(TextsInMemory {
                slots,
                texts: self.texts,
                executor: self.executor,
            })));
        }
        self.spill()?;
        Ok(SortedTexts::Runs(Arc::new(self.spills.finish()?)))
    }

    /// The distinct records in order; the texts stay where they are.
    fn sort(&mut self) -> Result<Vec<Slot<F>>> {
        let (unsorted, texts) = (std::mem::take(&mut self.slots), &self.texts);
        self.executor.run(|| {
            let mut slots = radix::sorted(&unsorted, |_, &slot| slot, |slot| slot.fingerprint.word(0));
            drop(unsorted);
            slots.par_chunk_by_mut(|a, b| a.fingerprint == b.fingerprint).filter(|group| group.len() > 1).for_each(
                |group| {
                    let order = |a: &Slot<F>, b: &Slot<F>| texts.get(a).cmp(texts.get(b));
                    if group.len() < LARGE { group.sort_unstable_by(order) } else { group.par_sort_unstable_by(order) }
                },
            );
            slots.dedup_by(|a, b| a.fingerprint == b.fingerprint && texts.get(a) == texts.get(b));
            Ok(slots)
        })
    }

    fn spill(&mut self) -> Result<()> {
        self.spills.wait()?;
        let slots = self.sort()?;
        // The next records may be of another kind, so the capacities for entries and for texts start anew.
        let texts = std::mem::take(&mut self.texts);
        if slots.is_empty() {
            return Ok(());
        }
        self.spills.append(move |run| {
            for slots in slots.chunks(FETCH) {
                texts.fetch(slots);
                for slot in slots {
                    let text = texts.get(slot);
                    run.push(1, F::BYTES + LENGTH_BYTES + text.len(), |out| {
                        slot.fingerprint.write_le(out);
                        #[expect(clippy::cast_possible_truncation, reason = "checked when it was pushed")]
                        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                        out.extend_from_slice(text);
                    })?;
                }
            }
            Ok(())
        })?;
        // The memory is for the records in it.
        self.spills.wait()
    }

    #[cfg(test)]
    pub(crate) fn peak(&self) -> u64 {
        self.peak.most()
    }
}
