//! Merging runs of items to chunks, by all threads.
//!
//! Each run is decoded to a buffer of its own. All items up to the least of the buffers' last ones are in memory, so
//! they are the next chunk. The threads divide it at items of the longest run.

use crate::error::{Error, Result};
use crate::extsort::ahead::Ahead;
use crate::extsort::columns;
use crate::extsort::item::Item;
use crate::extsort::memory::{bytes_of, length};
use crate::extsort::piece::{Lent, Memory};
use crate::extsort::radix;
use crate::extsort::runs::Runs;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Most items that one thread merges at a time: with a copy of half of them they fit a core's cache.
const MERGED: usize = 1 << 15;
/// Most bytes that a thread reads at a time.
const READ: u64 = 1 << 20;

/// The items of all runs in order, each once, in chunks that are not empty. The iterator, with the chunk it returned
/// last, takes `memory` bytes at most, or three blocks of each run if that is more.
pub(crate) fn merged<T: Item>(runs: &Arc<Runs>, memory: u64) -> Ahead<Lent<T>> {
    // A part for each of the buffers, the chunk that the caller has, and the next one; the rest to read.
    let buffers = length(memory / 16 * 5 / bytes_of::<T>(1).max(1));
    let capacity = (buffers / runs.runs.len().max(1)).max(runs.together);
    let read = READ.min(memory / 16 / runs.executor.threads() as u64);
    let read = length(read).max(columns::most_bytes::<T>(runs.together));
    let mut sources: Vec<Source<T>> =
        runs.runs.iter().map(|rest| Source { items: Vec::new(), at: 0, rest: rest.clone() }).collect();
    let (runs, memory) = (Arc::clone(runs), Memory::default());
    let most = capacity.saturating_mul(runs.runs.len()).min(length(runs.records));
    Ahead::new(&Arc::clone(&runs.executor), move || {
        let space = || Space { bytes: vec![0; read], columns: Vec::new() };
        sources.par_iter_mut().try_for_each_init(space, |space, source| source.fill(&runs, capacity, space))?;
        let unread = sources.iter().filter(|source| !source.rest.is_empty());
        let bound = unread.filter_map(|source| source.items.last()).min().copied();
        let known: Vec<&[T]> = sources.iter_mut().map(|source| source.take(bound)).collect();
        let mut chunk = radix::of_length(known.iter().map(|items| items.len()).sum(), memory.take(most));
        merge(known, &mut chunk);
        radix::drop_equal(&mut chunk);
        let held: usize = sources.iter().map(|source| source.items.capacity()).sum();
        runs.peak.note(bytes_of::<T>(held + 2 * chunk.capacity()));
        Ok(Some(memory.lend(chunk)).filter(|chunk| !chunk.is_empty()))
    })
}

/// A run that is read.
struct Source<T> {
    items: Vec<T>,
    /// How many of the items chunks have.
    at: usize,
    /// The bytes of the file that have not been read.
    rest: Range<u64>,
}

/// The bytes that a thread has read, and the columns of a block.
struct Space {
    bytes: Vec<u8>,
    columns: Vec<u64>,
}

impl<T: Item> Source<T> {
    /// Reads items until there are `capacity`, if fewer than half of that are left.
    fn fill(&mut self, runs: &Runs, capacity: usize, space: &mut Space) -> Result<()> {
        if self.rest.is_empty() || self.items.len() - self.at > capacity / 2 {
            return Ok(());
        }
        self.items.drain(..self.at);
        self.at = 0;
        self.items.reserve_exact(capacity.saturating_sub(self.items.len()));
        while !self.rest.is_empty() && self.items.len() + runs.together <= capacity {
            let length = length(self.rest.end - self.rest.start).min(space.bytes.len());
            let bytes = space.bytes.get_mut(..length).unwrap_or_default();
            runs.file.read(self.rest.start, bytes)?;
            let mut used = 0;
            while self.items.len() + runs.together <= capacity
                && let Some(block) = bytes.get(used..).filter(|bytes| !bytes.is_empty())
                && let Some(length) = columns::decode(block, &mut space.columns, &mut self.items)
            {
                used += length;
            }
            if used == 0 {
                return Err(Error::damaged("temporary data end within a block"));
            }
            self.rest.start += used as u64;
        }
        Ok(())
    }

    /// The items up to the bound, or all, for the next chunk.
    fn take(&mut self, bound: Option<T>) -> &[T] {
        let left = self.items.get(self.at..).unwrap_or_default();
        let taken = bound.map_or(left.len(), |bound| left.partition_point(|item| *item <= bound));
        self.at += taken;
        left.get(..taken).unwrap_or_default()
    }
}

/// Merges runs to `merged`, which has their length together.
fn merge<T: Item>(runs: Vec<&[T]>, merged: &mut [T]) {
    let longest = runs.iter().max_by_key(|run| run.len()).copied().unwrap_or_default();
    match longest.get(longest.len() / 2) {
        Some(middle) if merged.len() > MERGED && longest.len() > 1 => {
            let halves = runs.into_iter().map(|run| run.split_at(run.partition_point(|item| item < middle)));
            let (low, high): (Vec<&[T]>, Vec<&[T]>) = halves.unzip();
            let (left, right) = merged.split_at_mut(low.iter().map(|run| run.len()).sum());
            rayon::join(|| merge(low, left), || merge(high, right));
        }
        _ => {
            let mut rest = &mut *merged;
            for run in runs {
                rest.split_off_mut(..run.len()).into_iter().for_each(|part| part.copy_from_slice(run));
            }
            // The stable sort of the standard library finds the runs and merges them.
            merged.sort();
        }
    }
}
