//! Merging runs of records with texts.
//!
//! Each run is read through a buffer of its own. A heap of the runs' next records tells which one is least: one thread
//! merges, whatever the texts are like, in memory that does not depend on how they are spread.

use crate::error::{Error, Result};
use crate::extsort::lengths::length;
use crate::extsort::text_runs::{TextRun, TextRuns};
use crate::extsort::texts::LENGTH_BYTES;
use crate::fingerprint::Fingerprint;
use std::cmp::Ordering;
use std::sync::Arc;

/// All records of all runs, in order; equal ones are not dropped.
#[derive(Debug)]
pub(crate) struct MergedTexts<F> {
    pub(crate) runs: Arc<TextRuns<F>>,
    readers: Vec<Reader<F>>,
    /// Numbers of the readers that have a record: a heap, the least record first.
    heap: Vec<usize>,
    /// Bytes of a reader's buffer.
    buffer: usize,
    started: bool,
}

/// The part of a run that has not been merged.
#[derive(Debug)]
struct Reader<F> {
    bytes: Vec<u8>,
    /// Where the text of the first record is in `bytes`.
    from: usize,
    to: usize,
    fingerprint: F,
    /// Where to read on in the file, and where the run ends.
    next: u64,
    end: u64,
}

impl<F: Fingerprint> MergedTexts<F> {
    /// Merges with buffers of `memory` bytes together, short of a record that takes more.
    pub(crate) fn new(runs: Arc<TextRuns<F>>, memory: u64) -> Self {
        let buffer = length(memory / (runs.runs.len() as u64).max(1)).max(F::BYTES + LENGTH_BYTES);
        let reader = |run: &TextRun| Reader {
            bytes: Vec::new(),
            from: 0,
            to: 0,
            fingerprint: F::default(),
            next: run.from,
            end: run.to,
        };
        let readers = runs.runs.iter().map(reader).collect();
        Self { runs, readers, heap: Vec::new(), buffer, started: false }
    }

    /// Reads the first record of every run, once.
    pub(crate) fn start(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.started, true) {
            return Ok(());
        }
        for (number, reader) in self.readers.iter_mut().enumerate() {
            if reader.advance(&self.runs, self.buffer)? {
                self.heap.push(number);
            }
        }
        (0..self.heap.len()).rev().for_each(|place| self.sift_down(place));
        Ok(())
    }

    /// The least record, if there is one.
    pub(crate) fn least(&self) -> Option<(F, &[u8])> {
        let reader = self.readers.get(*self.heap.first()?)?;
        Some((reader.fingerprint, reader.text()))
    }

    /// Drops the least record.
    pub(crate) fn advance(&mut self) -> Result<()> {
        let Some(reader) = self.heap.first().and_then(|&number| self.readers.get_mut(number)) else { return Ok(()) };
        if !reader.advance(&self.runs, self.buffer)? {
            self.heap.swap_remove(0);
        }
        self.sift_down(0);
        Ok(())
    }

    /// Bytes of the buffers.
    pub(crate) fn held(&self) -> u64 {
        self.readers.iter().map(|reader| reader.bytes.capacity() as u64).sum()
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let below = [2 * place + 1, 2 * place + 2].into_iter().filter(|&below| below < self.heap.len());
            let Some(least) = below.min_by(|&a, &b| self.order(a, b)) else { return };
            if self.order(place, least) != Ordering::Greater {
                return;
            }
            self.heap.swap(place, least);
            place = least;
        }
    }

    /// The order of the records at two places of the heap.
    fn order(&self, a: usize, b: usize) -> Ordering {
        let at = |place| self.heap.get::<usize>(place).and_then(|&number| self.readers.get(number));
        let (Some(a), Some(b)) = (at(a), at(b)) else { return Ordering::Equal };
        a.fingerprint.cmp(&b.fingerprint).then_with(|| a.text().cmp(b.text()))
    }
}

impl<F: Fingerprint> Reader<F> {
    fn text(&self) -> &[u8] {
        self.bytes.get(self.from..self.to).unwrap_or_default()
    }

    /// Goes on to the next record, if there is one.
    fn advance(&mut self, runs: &TextRuns<F>, buffer: usize) -> Result<bool> {
        const { assert!(LENGTH_BYTES == size_of::<u32>()) }
        let header = F::BYTES + LENGTH_BYTES;
        if !self.fill(runs, header, buffer)? {
            return Ok(false);
        }
        let (fingerprint, rest) =
            self.bytes.get(self.to..).unwrap_or_default().split_at_checked(F::BYTES).unwrap_or_default();
        self.fingerprint = F::from_le_bytes(fingerprint).unwrap_or_default();
        let length = rest.first_chunk().map_or(0, |&length| u32::from_le_bytes(length) as usize);
        if !self.fill(runs, header + length, buffer)? {
            return Ok(false);
        }
        self.from = self.to + header;
        self.to = self.from + length;
        Ok(true)
    }

    /// Sees to it that there are `count` bytes behind the current record, whose text may be lost by it; not if the run
    /// ends before.
    fn fill(&mut self, runs: &TextRuns<F>, count: usize, buffer: usize) -> Result<bool> {
        if self.bytes.len() - self.to >= count {
            return Ok(true);
        }
        self.bytes.drain(..self.to);
        (self.from, self.to) = (0, 0);
        let had = self.bytes.len();
        let room = (buffer.max(count) - had) as u64;
        let more = length(room.min(self.end - self.next));
        self.bytes.reserve_exact(more);
        self.bytes.resize(had + more, 0);
        if let (Some(file), Some(bytes)) = (&runs.file, self.bytes.get_mut(had..)) {
            let read = file.read_at(self.next, bytes);
            read.map_err(|error| Error::temporary("cannot read temporary data in", &runs.directory, error))?;
        }
        self.next += more as u64;
        Ok(self.bytes.len() >= count)
    }
}
