//! Sorting items of fixed size.

use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::extsort::columns;
use crate::extsort::item::Item;
use crate::extsort::memory::{Peak, bytes_of, length};
use crate::extsort::pool::Pool;
use crate::extsort::radix;
use crate::extsort::runs::{Runs, Spills, transfer};
use crate::extsort::sorted::Sorted;
use crate::extsort::workspace::Workspace;
use std::io;
use std::sync::Arc;

const LEAST: usize = 1 << 12;
/// Least blocks of a run.
const LEAST_BLOCKS: usize = 1 << 10;

/// Sorts any number of items within a given memory, equal ones once or all of them.
///
/// One buffer fills. Another one of the same size was sorted from it before and is being written.
#[derive(Debug)]
pub(crate) struct Sorter<T: Item> {
    executor: Arc<Executor>,
    buffer: Vec<T>,
    limit: usize,
    transfer: u64,
    /// Whether equal items are all kept.
    keeps_equal: bool,
    spills: Spills,
    /// The memory of the run written last, for the next one.
    pool: Pool<T>,
    peak: Peak,
}

impl<T: Item> Sorter<T> {
    /// A sorter whose buffers take no more than `memory` bytes. Nothing is written, and the directory is not touched,
    /// before the memory is full.
    pub(crate) fn new(workspace: &Workspace, memory: u64) -> Self {
        let transfer = transfer(memory);
        // The buffer, and as much for the items that are sorted from it.
        let limit = length((memory - transfer) / bytes_of::<T>(2).max(1)).max(1);
        let (executor, spills) = (Arc::clone(&workspace.executor), Spills::new(workspace, transfer));
        let (buffer, pool, peak) = (Vec::new(), Pool::default(), Peak::default());
        Self { executor, buffer, limit, transfer, keeps_equal: false, spills, pool, peak }
    }

    /// As [`Sorter::new`], but equal items are all kept.
    pub(crate) fn keeping_equal(workspace: &Workspace, memory: u64) -> Self {
        Self { keeps_equal: true, ..Self::new(workspace, memory) }
    }

    /// Takes an item. If a run could not be written, all further calls fail as well.
    #[inline]
    pub(crate) fn push(&mut self, item: T) -> Result<()> {
        if self.buffer.len() == self.buffer.capacity() {
            self.make_space()?;
        }
        self.buffer.push(item);
        Ok(())
    }

    /// Takes many items.
    pub(crate) fn extend(&mut self, mut items: &[T]) -> Result<()> {
        while !items.is_empty() {
            if self.buffer.len() == self.buffer.capacity() {
                self.make_space()?;
            }
            let (now, later) = items.split_at(items.len().min(self.buffer.capacity() - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            items = later;
        }
        Ok(())
    }

    #[cold]
    fn make_space(&mut self) -> Result<()> {
        let capacity = self.buffer.capacity();
        if capacity >= self.limit {
            return self.spill();
        }
        // While it grows the old buffer may be there too: no more than is set aside for sorting, which comes later.
        let larger = (2 * capacity).max(LEAST).min(self.limit);
        self.buffer.try_reserve_exact(larger - self.buffer.len()).map_err(|_| {
            let error = io::ErrorKind::OutOfMemory.into();
            Error::io("cannot get memory to sort, before writing to", &self.spills.directory, error)
                .with_remedy("give it less memory")
        })?;
        self.note(0);
        Ok(())
    }

    /// The items pushed, in order.
    pub(crate) fn finish(mut self) -> Result<Sorted<T>> {
        if self.spills.is_empty() {
            // Items that came in order, such as those of another store, are not sorted again.
            let sorted = if self.buffer.is_sorted() {
                let buffer = std::mem::take(&mut self.buffer);
                self.without_equal(buffer)?
            } else {
                self.sort()?
            };
            return Ok(Sorted::Memory(sorted));
        }
        if !self.buffer.is_empty() {
            self.spill()?;
        }
        self.buffer = Vec::new();
        let runs = self.spills.finish()?;
        Ok(Sorted::Runs(Arc::new(Runs { keeps_equal: self.keeps_equal, ..runs })))
    }

    /// The items of the buffer in order. The buffer keeps its capacity.
    fn sort(&mut self) -> Result<Vec<T>> {
        let space = self.pool.take(0);
        let sorted =
            self.executor.run(|| Ok(radix::sorted_in(space, &self.buffer, |_, &item| item, |item| item.word(0))))?;
        self.note(sorted.capacity());
        let sorted = self.without_equal(sorted)?;
        self.buffer.clear();
        Ok(sorted)
    }

    fn without_equal(&self, mut sorted: Vec<T>) -> Result<Vec<T>> {
        if self.keeps_equal {
            return Ok(sorted);
        }
        self.executor.run(|| {
            radix::drop_equal(&mut sorted);
            Ok(sorted)
        })
    }

    fn spill(&mut self) -> Result<()> {
        // Memory is for one sorted buffer, so the one before has to be written.
        self.spills.wait()?;
        let sorted = self.sort()?;
        let sorted = self.pool.lend(sorted);
        // A merge has a block of each run in memory: a small part of what is sorted at once.
        let block = (self.limit / LEAST_BLOCKS).clamp(1, columns::MOST);
        self.spills.append(move |run| {
            for items in sorted.chunks(block) {
                run.push(items.len(), columns::most_bytes::<T>(block), |out| columns::encode(items, out))?;
            }
            Ok(())
        })
    }

    /// Remembers the memory used with a sorted buffer of this capacity.
    fn note(&self, sorted: usize) {
        self.peak.note(bytes_of::<T>(self.buffer.capacity() + sorted) + self.transfer);
    }

    #[cfg(test)]
    pub(crate) fn peak(&self) -> u64 {
        self.peak.most()
    }
}
