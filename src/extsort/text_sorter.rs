//! Records with texts in, runs out.
//!
//! In a run a record is its fingerprint, the length of its text in four bytes, both little-endian, and the text.

use crate::env::{Env, ScratchFile};
use crate::error::{Error, Result};
use crate::extsort::lengths::{bytes_of, length};
use crate::extsort::peak::Peak;
use crate::extsort::radix as sort;
use crate::extsort::runs::transfer;
use crate::extsort::text_chunks::{Kept, SortedTexts};
use crate::extsort::text_runs::{TextRun, TextRuns};
use crate::extsort::texts::{FETCH, LENGTH_BYTES, PIECE, Slot, Texts};
use crate::extsort::workspace::Workspace;
use crate::fingerprint::Fingerprint;
use rayon::prelude::*;
use std::sync::Arc;

/// Entries that there is room for at first.
const LEAST: usize = 1 << 8;
/// More records with one fingerprint than this are sorted by all threads.
const LARGE: usize = 1 << 16;

/// Sorts any number of records, fingerprints with texts, within a given memory: by fingerprint, then the text's bytes.
#[derive(Debug)]
pub(crate) struct TextSorter<F: Fingerprint> {
    env: Arc<dyn Env>,
    memory: u64,
    transfer: u64,
    slots: Vec<Slot<F>>,
    texts: Texts,
    /// Number of records pushed.
    count: u64,
    runs: TextRuns<F>,
    /// Whether a run could not be written.
    failed: bool,
    peak: Peak,
}

impl<F: Fingerprint> TextSorter<F> {
    /// A sorter whose buffers take no more than `memory` bytes, short of a single record that takes more; what does
    /// not fit goes to a temporary file in `directory`. Nothing is written, nor is the directory looked at, before the
    /// memory is full.
    pub(crate) fn new(workspace: &Workspace, memory: u64) -> Self {
        let Workspace { env, directory, executor, .. } = workspace.clone();
        Self {
            env,
            memory,
            transfer: transfer(memory),
            slots: Vec::new(),
            texts: Texts::default(),
            count: 0,
            runs: TextRuns::new(directory, executor),
            failed: false,
            peak: Peak::default(),
        }
    }

    /// Takes a record.
    ///
    /// # Errors
    /// If the text has 4 GiB, or if a run could not be written; after that all further calls fail as well.
    pub(crate) fn push(&mut self, fingerprint: F, text: &str) -> Result<()> {
        if u32::try_from(text.len() + LENGTH_BYTES).is_err() {
            return Err(Error::invalid(format!("a text has {} bytes", text.len())));
        }
        let bytes = text.len() + LENGTH_BYTES;
        if (self.slots.len() == self.slots.capacity() || !self.texts.has_room(bytes)) && !self.make_room(bytes) {
            self.spill()?;
            if !self.make_room(bytes) {
                // It alone is larger than the memory.
                self.slots.reserve_exact(1);
                self.texts.add_piece(bytes);
            }
        }
        let place = self.texts.push(text);
        self.slots.push(Slot { fingerprint, place });
        self.count += 1;
        Ok(())
    }

    /// Makes room for one more record, whose text takes so many bytes, if the memory allows for it.
    fn make_room(&mut self, bytes: usize) -> bool {
        if !self.texts.has_room(bytes) {
            let piece = length(PIECE.min(self.memory / 16)).max(bytes);
            if self.held(self.slots.capacity()) + piece as u64 > self.memory {
                return false;
            }
            self.texts.add_piece(piece);
        }
        let capacity = self.slots.capacity();
        if self.slots.len() == capacity {
            // By a quarter only, as what is left is wanted for texts. While it grows the old buffer may be there too:
            // no more than is set aside for sorting, which comes later.
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

    /// Bytes that are taken, with so many slots, when these are sorted.
    fn held(&self, slots: usize) -> u64 {
        bytes_of::<Slot<F>>(2 * slots) + self.texts.capacity + self.transfer
    }

    /// The records pushed, in order.
    ///
    /// # Errors
    /// If a run could not be written.
    pub(crate) fn finish(mut self) -> Result<SortedTexts<F>> {
        if self.runs.runs.is_empty() && !self.failed {
            let slots = self.sort()?;
            return Ok(SortedTexts::of_memory(
                self.count,
                Kept { slots, texts: self.texts, executor: self.runs.executor },
            ));
        }
        if !self.slots.is_empty() || self.failed {
            self.spill()?;
        }
        Ok(SortedTexts::in_runs(self.count, self.runs))
    }

    /// The distinct records in order; the texts stay where they are.
    fn sort(&mut self) -> Result<Vec<Slot<F>>> {
        let (unsorted, texts) = (std::mem::take(&mut self.slots), &self.texts);
        self.runs.executor.run(|| {
            let mut slots = sort::sorted(&unsorted, |_, &slot| slot, |slot| slot.fingerprint.word(0));
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

    /// Makes a run of what is in memory, writes it, and gives the memory back.
    fn spill(&mut self) -> Result<()> {
        let earlier = std::mem::replace(&mut self.failed, true);
        let directory = self.runs.directory.clone();
        let fail = |error| Error::temporary("cannot write temporary data to", &directory, error);
        if earlier {
            return Err(fail(std::io::Error::other("an earlier write has failed")));
        }
        let slots = self.sort()?;
        if !slots.is_empty() {
            let file = match &mut self.runs.file {
                Some(file) => file,
                none => none.insert(self.env.scratch(&directory).map_err(fail)?),
            };
            let run = write(file.as_mut(), &slots, &self.texts, self.transfer).map_err(fail)?;
            self.runs.runs.push(run);
            self.runs.records += slots.len() as u64;
        }
        // The next records may be of another kind; so how many of how many bytes there is room for is found out anew.
        self.texts = Texts::default();
        self.failed = false;
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn peak(&self) -> u64 {
        self.peak.most()
    }
}

/// Appends a run, `transfer` bytes at once.
fn write<F: Fingerprint>(
    file: &mut dyn ScratchFile,
    slots: &[Slot<F>],
    texts: &Texts,
    transfer: u64,
) -> std::io::Result<TextRun> {
    let from = file.length();
    let mut bytes = Vec::with_capacity(length(transfer));
    for slots in slots.chunks(FETCH) {
        texts.fetch(slots);
        for slot in slots {
            let text = texts.get(slot);
            if !bytes.is_empty() && bytes.len() + F::BYTES + LENGTH_BYTES + text.len() > length(transfer) {
                file.append(&bytes)?;
                bytes.clear();
            }
            slot.fingerprint.write_le(&mut bytes);
            #[expect(clippy::cast_possible_truncation, reason = "checked when it was pushed")]
            bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            bytes.extend_from_slice(text);
        }
    }
    file.append(&bytes)?;
    Ok(TextRun { from, to: file.length() })
}
