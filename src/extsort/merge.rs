//! Merging runs to chunks.
//!
//! Each run is read through a buffer of its own. A heap of the runs' next records tells which one is least: one thread
//! merges, in memory that does not depend on how the records are spread.

use crate::error::Result;
use crate::extsort::ahead::Ahead;
use crate::extsort::item::Item;
use crate::extsort::memory::length;
use crate::extsort::runs::Runs;
use crate::extsort::temporary_file::TemporaryFile;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;
use std::sync::Arc;

pub(crate) const LENGTH_BYTES: usize = 4;

/// Sorted, distinct records in memory, with a capacity that is fixed when they are made.
pub(crate) trait Chunk: Send + 'static {
    /// The fixed-size part of a record.
    type Item: Item;
    const HAS_TEXTS: bool;

    /// Whether this record is the last one.
    fn ends_with(&self, item: &Self::Item, text: &[u8]) -> bool;

    /// Whether the capacity is enough for one more record, with a text of `length` bytes. It is for the first one.
    fn has_space(&self, length: usize) -> bool;

    fn push(&mut self, item: Self::Item, text: &[u8]);

    fn held(&self) -> u64;
}

impl<T: Item> Chunk for Vec<T> {
    type Item = T;
    const HAS_TEXTS: bool = false;

    #[inline]
    fn ends_with(&self, item: &T, _: &[u8]) -> bool {
        self.last() == Some(item)
    }

    #[inline]
    fn has_space(&self, _: usize) -> bool {
        self.len() < self.capacity() || self.is_empty()
    }

    #[inline]
    fn push(&mut self, item: T, _: &[u8]) {
        self.push(item);
    }

    fn held(&self) -> u64 {
        crate::extsort::memory::bytes_of::<T>(self.capacity())
    }
}

/// The records of all runs in order, each once, in chunks that `make` allocates. The buffers of all runs take `memory`
/// bytes together, short of a record of each run that takes more.
pub(crate) fn merged<C: Chunk>(runs: &Arc<Runs>, memory: u64, make: impl Fn() -> C + Send + 'static) -> Ahead<C> {
    let buffer = length(memory / (runs.runs.len() as u64).max(1));
    let mut unread = runs.runs.clone();
    let (runs, mut heap) = (Arc::clone(runs), BinaryHeap::with_capacity(unread.len()));
    Ahead::new(&Arc::clone(&runs.executor), move || {
        for rest in unread.drain(..) {
            let reader = Box::new(Reader { bytes: Vec::new(), text: 0..0, rest, buffer });
            let mut head = Head { item: C::Item::default(), reader };
            if head.advance::<C>(&runs.file)? {
                heap.push(head);
            }
        }
        let mut chunk = make();
        // Equal records are neighbours, and a chunk ends after the last one of them.
        let mut is_empty = true;
        while let Some(mut head) = heap.peek_mut() {
            if !chunk.ends_with(&head.item, head.reader.text()) {
                if !chunk.has_space(head.reader.text.len()) {
                    break;
                }
                chunk.push(head.item, head.reader.text());
                is_empty = false;
            }
            if !head.advance::<C>(&runs.file)? {
                PeekMut::pop(head);
            }
        }
        let record = C::Item::BYTES;
        let buffers =
            heap.iter().map(|head: &Head<C::Item>| head.reader.bytes.capacity().saturating_sub(record) as u64);
        runs.peak.note(2 * chunk.held() + buffers.sum::<u64>());
        Ok(Some(chunk).filter(|_| !is_empty))
    })
}

/// The next record of a run. The greatest head, in the order of a heap, is the one with the least record.
struct Head<T> {
    item: T,
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

impl<T: Item> Head<T> {
    #[inline]
    fn advance<C: Chunk<Item = T>>(&mut self, file: &TemporaryFile) -> Result<bool> {
        let header = T::BYTES + if C::HAS_TEXTS { LENGTH_BYTES } else { 0 };
        let reader = &mut *self.reader;
        if !reader.fill(file, header)? {
            return Ok(false);
        }
        let record = reader.bytes.get(reader.text.end..).unwrap_or_default();
        self.item = T::read(record.get(..T::BYTES).unwrap_or_default());
        let mut length = 0;
        if C::HAS_TEXTS {
            let bytes = record.get(T::BYTES..).and_then(|rest| rest.first_chunk::<LENGTH_BYTES>());
            length = bytes.map_or(0, |&bytes| u32::from_le_bytes(bytes) as usize);
            if !reader.fill(file, header + length)? {
                return Ok(false);
            }
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
        other.item.cmp(&self.item).then_with(|| other.reader.text().cmp(self.reader.text()))
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
