//! Merging runs of records with texts to chunks.
//!
//! Each run is read through a buffer of its own. A heap of the runs' next records tells which one is least: one thread
//! merges, in memory that does not depend on how the records are spread.

use crate::error::Result;
use crate::extsort::ahead::Ahead;
use crate::extsort::memory::length;
use crate::extsort::runs::Runs;
use crate::extsort::temporary_file::TemporaryFile;
use crate::extsort::text_chunk::TextChunk;
use crate::fingerprint::Fingerprint;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;
use std::sync::Arc;

pub(crate) const LENGTH_BYTES: usize = 4;

/// The records of all runs in order, each once, in chunks that `make` allocates. The buffers of all runs take `memory`
/// bytes together, short of a record of each run that takes more.
pub(crate) fn merged<F: Fingerprint>(
    runs: &Arc<Runs>,
    memory: u64,
    make: impl Fn() -> TextChunk<F> + Send + 'static,
) -> Ahead<TextChunk<F>> {
    let buffer = length(memory / (runs.runs.len() as u64).max(1));
    let mut unread = runs.runs.clone();
    let (runs, mut heap) = (Arc::clone(runs), BinaryHeap::with_capacity(unread.len()));
    Ahead::new(&Arc::clone(&runs.executor), move || {
        for rest in unread.drain(..) {
            let reader = Box::new(Reader { bytes: Vec::new(), text: 0..0, rest, buffer });
            let mut head = Head { fingerprint: F::default(), reader };
            if head.advance(&runs.file)? {
                heap.push(head);
            }
        }
        let mut chunk = make();
        // Equal records are neighbours, and a chunk ends after the last one of them.
        let mut is_empty = true;
        while let Some(mut head) = heap.peek_mut() {
            if !chunk.ends_with(head.fingerprint, head.reader.text()) {
                if !chunk.has_space(head.reader.text.len()) {
                    break;
                }
                chunk.push(head.fingerprint, head.reader.text());
                is_empty = false;
            }
            if !head.advance(&runs.file)? {
                PeekMut::pop(head);
            }
        }
        let buffers = heap.iter().map(|head: &Head<F>| head.reader.bytes.capacity().saturating_sub(F::BYTES) as u64);
        runs.peak.note(2 * chunk.held() + buffers.sum::<u64>());
        Ok(Some(chunk).filter(|_| !is_empty))
    })
}

/// The next record of a run. The greatest head, in the order of a heap, is the one with the least record.
struct Head<F> {
    fingerprint: F,
    reader: Box<Reader>,
}

struct Reader {
    bytes: Vec<u8>,
    /// The text of the next record in `bytes`. What follows it has been read ahead.
    text: Range<usize>,
    /// The bytes of the file that have not been read.
    rest: Range<u64>,
    buffer: usize,
}

impl<F: Fingerprint> Head<F> {
    #[inline]
    fn advance(&mut self, file: &TemporaryFile) -> Result<bool> {
        let header = F::BYTES + LENGTH_BYTES;
        let reader = &mut *self.reader;
        if !reader.fill(file, header)? {
            return Ok(false);
        }
        let record = reader.bytes.get(reader.text.end..).unwrap_or_default();
        let (fingerprint, rest) = record.split_at_checked(F::BYTES).unwrap_or_default();
        self.fingerprint = F::from_le_bytes(fingerprint).unwrap_or_default();
        let length = rest.first_chunk::<LENGTH_BYTES>().map_or(0, |&bytes| u32::from_le_bytes(bytes) as usize);
        if !reader.fill(file, header + length)? {
            return Ok(false);
        }
        let start = reader.text.end + header;
        reader.text = start..start + length;
        Ok(true)
    }
}

impl Reader {
    #[inline]
    fn text(&self) -> &[u8] {
        self.bytes.get(self.text.clone()).unwrap_or_default()
    }

    /// Whether there are `count` bytes after the current record; reading them drops that record.
    #[inline]
    fn fill(&mut self, file: &TemporaryFile, count: usize) -> Result<bool> {
        if self.bytes.len() - self.text.end < count {
            self.refill(file, count)?;
        }
        Ok(self.bytes.len() - self.text.end >= count)
    }

    #[cold]
    fn refill(&mut self, file: &TemporaryFile, count: usize) -> Result<()> {
        self.bytes.drain(..self.text.end);
        self.text = 0..0;
        let had = self.bytes.len();
        let space = (self.buffer.max(count) - had) as u64;
        let more = space.min(self.rest.end - self.rest.start);
        self.bytes.reserve_exact(length(more));
        self.bytes.resize(had + length(more), 0);
        file.read(self.rest.start, self.bytes.get_mut(had..).unwrap_or_default())?;
        self.rest.start += more;
        Ok(())
    }
}

impl<T: Ord> Ord for Head<T> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.fingerprint.cmp(&self.fingerprint).then_with(|| other.reader.text().cmp(self.reader.text()))
    }
}

impl<T: Ord> PartialOrd for Head<T> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> PartialEq for Head<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T: Ord> Eq for Head<T> {}
