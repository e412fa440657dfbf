//! Items in order, chunk by chunk.

use crate::error::Result;
use crate::executor::Executor;
use crate::extsort::ahead::{Ahead, ReadAhead};
use crate::extsort::cut::{ChunkPart, Cutter, Slice};
use crate::extsort::item::Item;
use crate::extsort::lengths::{bytes_of, length};
use crate::extsort::radix as sort;
use crate::extsort::runs::{Runs, transfer};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Items that were sorted.
#[derive(Debug)]
pub(crate) struct Sorted<T> {
    items: Items<T>,
}

#[derive(Debug)]
enum Items<T> {
    Memory(Vec<T>),
    Runs(Arc<Runs<T>>),
}

impl<T: Item> Sorted<T> {
    pub(crate) fn of_memory(items: Vec<T>) -> Self {
        Self { items: Items::Memory(items) }
    }

    pub(crate) fn in_runs(runs: Runs<T>) -> Self {
        Self { items: Items::Runs(Arc::new(runs)) }
    }

    /// All items, ascending and each once, if nothing was written to a temporary file.
    pub(crate) fn in_memory(&self) -> Option<&[T]> {
        match &self.items {
            Items::Memory(items) => Some(items),
            Items::Runs(_) => None,
        }
    }

    /// About `most` items, no more, in order: each run's items are equally likely to be among them. Equal ones may be.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(crate) fn sample(&self, most: usize) -> Result<Vec<T>> {
        let runs = match &self.items {
            Items::Memory(items) => {
                let step = items.len().div_ceil(most.max(1)).max(1);
                return Ok(items.iter().step_by(step).take(most).copied().collect());
            }
            Items::Runs(runs) => runs,
        };
        let total: u64 = runs.runs.iter().map(|run| run.count).sum();
        let step = total.div_ceil((most as u64).max(1)).max(1);
        let (mut sample, mut bytes) = (Vec::with_capacity(most.min(length(total))), Vec::with_capacity(T::BYTES));
        // Every so many items, all runs one behind the other.
        let mut next = 0;
        for run in &runs.runs {
            while next < run.count && sample.len() < most {
                let mut item = [T::default()];
                runs.read(run, next, &mut item, &mut bytes)?;
                sample.extend(item);
                next += step;
            }
            next = next.saturating_sub(run.count);
        }
        sample.sort_unstable();
        Ok(sample)
    }

    /// All items, ascending and each once. The iterator, with the chunk it returned last, takes `memory` bytes at
    /// most; nothing but the threads' time if all items are in memory anyway.
    pub(crate) fn chunks(&self, memory: u64) -> Chunks<'_, T> {
        Chunks(match &self.items {
            Items::Memory(items) => State::Memory(Some(items).filter(|items| !items.is_empty())),
            Items::Runs(runs) => State::Runs(Ahead::new(Reader::new(runs, memory))),
        })
    }

    #[cfg(test)]
    pub(crate) fn peak(&self) -> u64 {
        match &self.items {
            Items::Memory(_) => 0,
            Items::Runs(runs) => runs.peak.most(),
        }
    }

    #[cfg(test)]
    pub(crate) fn runs(&self) -> usize {
        match &self.items {
            Items::Memory(_) => 0,
            Items::Runs(runs) => runs.runs.len(),
        }
    }
}

/// Some items, ascending.
#[derive(Debug)]
pub(crate) enum Chunk<'a, T> {
    /// They are in memory anyway.
    Borrowed(&'a [T]),
    /// They were read.
    Owned(Vec<T>),
}

impl<'a, T: Clone> From<Chunk<'a, T>> for Cow<'a, [T]> {
    fn from(chunk: Chunk<'a, T>) -> Self {
        match chunk {
            Chunk::Borrowed(items) => Cow::Borrowed(items),
            Chunk::Owned(items) => Cow::Owned(items),
        }
    }
}

impl<T> Deref for Chunk<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Borrowed(items) => items,
            Self::Owned(items) => items,
        }
    }
}

/// All items, chunk by chunk. No chunk is empty.
#[derive(Debug)]
pub(crate) struct Chunks<'a, T: Item>(State<'a, T>);

#[derive(Debug)]
enum State<'a, T: Item> {
    Memory(Option<&'a Vec<T>>),
    Runs(Ahead<Reader<T>>),
}

impl<'a, T: Item> Iterator for Chunks<'a, T> {
    type Item = Result<Chunk<'a, T>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            State::Memory(items) => items.take().map(|items| Ok(Chunk::Borrowed(items))),
            State::Runs(chunks) => chunks.next().map(|chunk| chunk.map(Chunk::Owned)),
        }
    }
}

/// Reads chunks from runs.
#[derive(Debug)]
struct Reader<T> {
    cutter: Cutter<T>,
    /// Items of a chunk.
    most: u64,
    /// Bytes that a thread reads at once.
    transfer: usize,
    /// Bytes taken by everything but chunks, and by the chunk before.
    other: u64,
}

impl<T: Item> Reader<T> {
    fn new(runs: &Arc<Runs<T>>, memory: u64) -> Self {
        let (transfer, windows) = (transfer(memory), memory / 16);
        // The chunk that the caller has, the next one, and that one's items before they were sorted.
        let most = ((memory - transfer - windows) / bytes_of::<T>(3).max(1)).max(1);
        let transfer_each = length(transfer) / runs.executor.threads();
        let cutter = Cutter::new(Arc::clone(runs), windows);
        Self { cutter, most, transfer: transfer_each, other: transfer + windows }
    }

    fn read(&self, slices: &[Slice]) -> Result<Vec<T>> {
        let runs = &self.cutter.runs;
        let total: u64 = slices.iter().map(|(_, from, to)| to - from).sum();
        let mut items = vec![T::default(); length(total)];
        let mut rest = items.as_mut_slice();
        let mut places = Vec::with_capacity(slices.len());
        for &(run, from, to) in slices {
            let (place, behind) = rest.split_at_mut(length(to - from).min(rest.len()));
            places.extend(runs.runs.get(run).map(|run| (run, from, place)));
            rest = behind;
        }
        places.into_par_iter().try_for_each_init(
            || Vec::with_capacity(self.transfer),
            |bytes, (run, from, place)| runs.read(run, from, place, bytes),
        )?;
        Ok(items)
    }
}

impl<T: Item> ReadAhead for Reader<T> {
    type Chunk = Vec<T>;

    fn next_chunk(&mut self) -> Result<Option<Vec<T>>> {
        let slices = match self.cutter.next(self.most)? {
            None => return Ok(None),
            Some(ChunkPart::Single(item)) => return Ok(Some(vec![item])),
            Some(ChunkPart::Slices(slices)) => slices,
        };
        let mut items = self.read(&slices)?;
        if slices.len() > 1 {
            // It merges the runs that it finds, through a copy of all items.
            items.par_sort();
            let held = bytes_of::<T>(items.capacity() + items.len() + length(self.most));
            self.cutter.runs.peak.note(self.other + held);
            sort::drop_equal(&mut items);
        }
        Ok(Some(items))
    }

    fn executor(&self) -> &Arc<Executor> {
        &self.cutter.runs.executor
    }
}
