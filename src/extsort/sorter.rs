//! Items in, runs out.

use crate::env::Env;
use crate::error::{Error, Result};
use crate::executor::{Executor, spawn};
use crate::extsort::chunks::Sorted;
use crate::extsort::item::Item;
use crate::extsort::lengths::{bytes_of, length};
use crate::extsort::peak::Peak;
use crate::extsort::radix as sort;
use crate::extsort::runs::{Runs, transfer};
use crate::extsort::workspace::Workspace;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Items that a buffer has room for at first.
const LEAST: usize = 1 << 12;

/// Sorts any number of items within a given memory.
///
/// There is one buffer that fills, and one of the same size that was sorted from it before and is being written.
#[derive(Debug)]
pub(crate) struct Sorter<T: Item> {
    env: Arc<dyn Env>,
    executor: Arc<Executor>,
    buffer: Vec<T>,
    /// Number of items at which the buffer is full.
    limit: usize,
    /// Bytes that are written at once.
    transfer: u64,
    runs: Writing<T>,
    peak: Peak,
}

/// The runs, which a thread has while it appends another one.
#[derive(Debug)]
enum Writing<T> {
    Idle(Runs<T>),
    Busy(JoinHandle<Result<Runs<T>>>, PathBuf),
    /// Writing has failed.
    Failed(PathBuf),
}

impl<T: Item> Sorter<T> {
    /// A sorter whose buffers take no more than `memory` bytes; what does not fit goes to a temporary file in
    /// `directory`. Nothing is written, nor is the directory looked at, before the memory is full.
    pub(crate) fn new(workspace: &Workspace, memory: u64) -> Self {
        let Workspace { env, directory, executor, .. } = workspace.clone();
        let (transfer, samples) = (transfer(memory), memory / 64);
        // The buffer, and as much for what is sorted from it.
        let limit = length((memory - transfer - samples) / bytes_of::<T>(2).max(1)).max(1);
        let runs = Writing::Idle(Runs::new(directory, Arc::clone(&executor), samples));
        Self { env, executor, buffer: Vec::new(), limit, transfer, runs, peak: Peak::default() }
    }

    /// Takes an item.
    ///
    /// # Errors
    /// If a run could not be written; all further calls fail as well.
    #[inline]
    pub(crate) fn push(&mut self, item: T) -> Result<()> {
        if self.buffer.len() == self.buffer.capacity() {
            self.make_room()?;
        }
        self.buffer.push(item);
        Ok(())
    }

    /// Takes many items.
    ///
    /// # Errors
    /// As [`Sorter::push`].
    pub(crate) fn extend(&mut self, mut items: &[T]) -> Result<()> {
        while !items.is_empty() {
            if self.buffer.len() == self.buffer.capacity() {
                self.make_room()?;
            }
            let (now, later) = items.split_at(items.len().min(self.buffer.capacity() - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            items = later;
        }
        Ok(())
    }

    /// Makes the full buffer larger or empties it.
    #[cold]
    fn make_room(&mut self) -> Result<()> {
        let capacity = self.buffer.capacity();
        if capacity >= self.limit {
            return self.spill();
        }
        // While it grows the old buffer may be there too: no more than is set aside for sorting, which comes later.
        let larger = (2 * capacity).max(LEAST).min(self.limit);
        self.buffer.try_reserve_exact(larger - self.buffer.len()).map_err(|_| {
            Error::io(
                "cannot get memory to sort, before writing to",
                self.directory(),
                io::ErrorKind::OutOfMemory.into(),
            )
            .with_remedy("give it less memory")
        })?;
        self.note(0);
        Ok(())
    }

    /// The items pushed, in order.
    ///
    /// # Errors
    /// If a run could not be written.
    pub(crate) fn finish(mut self) -> Result<Sorted<T>> {
        if let Writing::Idle(runs) = &self.runs
            && runs.runs.is_empty()
        {
            return Ok(Sorted::of_memory(self.sort_buffer()?));
        }
        if !self.buffer.is_empty() {
            self.spill()?;
        }
        self.buffer = Vec::new();
        Ok(Sorted::in_runs(self.idle()?))
    }

    fn directory(&self) -> &PathBuf {
        match &self.runs {
            Writing::Idle(runs) => &runs.directory,
            Writing::Busy(_, directory) | Writing::Failed(directory) => directory,
        }
    }

    /// The distinct items of the buffer in order; it stays as large.
    fn sort_buffer(&mut self) -> Result<Vec<T>> {
        let mut sorted = self.executor.run(|| Ok(sort::sorted(&self.buffer, |_, &item| item, T::key)))?;
        self.note(sorted.capacity());
        self.executor.run(|| {
            sort::drop_equal(&mut sorted);
            Ok(())
        })?;
        self.buffer.clear();
        Ok(sorted)
    }

    /// Makes a run of the buffer and has a thread write it.
    fn spill(&mut self) -> Result<()> {
        // Memory is for one sorted buffer: the one before is written when this returns.
        let mut runs = self.idle()?;
        let directory = runs.directory.clone();
        self.runs = Writing::Failed(directory.clone());
        let sorted = self.sort_buffer()?;
        let (env, transfer) = (Arc::clone(&self.env), self.transfer);
        let writing = spawn("fpstore spill", move || {
            runs.append(&env, &sorted, transfer)?;
            Ok(runs)
        });
        self.runs = Writing::Busy(writing?, directory);
        Ok(())
    }

    /// The runs, when nothing is being written any more.
    fn idle(&mut self) -> Result<Runs<T>> {
        let directory = self.directory().clone();
        match std::mem::replace(&mut self.runs, Writing::Failed(directory)) {
            Writing::Idle(runs) => Ok(runs),
            Writing::Busy(thread, _) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Writing::Failed(directory) => {
                let error = io::Error::other("an earlier write has failed");
                Err(Error::temporary("cannot write temporary data to", &directory, error))
            }
        }
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

impl<T: Item> Drop for Sorter<T> {
    fn drop(&mut self) {
        // Who drops the sorter has its memory back.
        if let Writing::Busy(..) = self.runs {
            let _ = self.idle();
        }
    }
}
