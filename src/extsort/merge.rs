//! Merging runs of items to chunks, by all threads.
//!
//! Each run is decoded to a buffer of its own. All items up to the least of the buffers' last ones are in memory, so
//! they are the next chunk. The threads divide it at medians, down to pieces that fit a cache.

use crate::error::{Error, Result};
use crate::extsort::ahead::Ahead;
use crate::extsort::columns;
use crate::extsort::item::Item;
use crate::extsort::memory::{bytes_of, length};
use crate::extsort::pool::{Lent, Pool};
use crate::extsort::radix;
use crate::extsort::runs::Runs;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Most items that one thread merges at a time: with the copy that the sort takes they fit a core's cache.
const MERGED: usize = 1 << 15;
/// Most bytes that a thread reads at a time.
const READ: u64 = 1 << 20;

/// The items of all runs in order, in chunks that are not empty; equal ones as the sorter keeps them.
///
/// The iterator, with the chunk it returned last, takes `memory` bytes at most, or three blocks of each run if that is
/// more, and a copy of [`MERGED`] items for each thread.
pub(crate) fn merged<T: Item>(runs: &Arc<Runs>, memory: u64) -> Ahead<Lent<T>> {
    // A part for each of the buffers, the chunk that the caller has, and the next one; the rest to read.
    let buffers = length(memory / 16 * 5 / bytes_of::<T>(1).max(1));
    let capacity = (buffers / runs.runs.len().max(1)).max(runs.together);
    let read = READ.min(memory / 16 / runs.executor.threads() as u64);
    let read = length(read).max(columns::most_bytes::<T>(runs.together));
    let mut sources: Vec<Source<T>> =
        runs.runs.iter().map(|rest| Source { items: Vec::new(), at: 0, rest: rest.clone() }).collect();
    let (runs, pool) = (Arc::clone(runs), Pool::default());
    let most = capacity.saturating_mul(runs.runs.len()).min(length(runs.records));
    Ahead::new(&Arc::clone(&runs.executor), move || {
        let space = || Space { bytes: vec![0; read], columns: Vec::new() };
        sources.par_iter_mut().try_for_each_init(space, |space, source| source.fill(&runs, capacity, space))?;
        let unread = sources.iter().filter(|source| !source.rest.is_empty());
        let bound = unread.filter_map(|source| source.items.last()).min().copied();
        let known: Vec<&[T]> = sources.iter_mut().map(|source| source.take(bound)).collect();
        let mut chunk = radix::of_length(known.iter().map(|items| items.len()).sum(), pool.take(most));
        merge(known, &mut chunk);
        if !runs.keeps_equal {
            radix::drop_equal(&mut chunk);
        }
        if bound.is_some() && chunk.is_empty() {
            return Err(Error::damaged("temporary data are not in order"));
        }
        let held: usize = sources.iter().map(|source| source.items.capacity()).sum();
        runs.peak.note(bytes_of::<T>(held + 2 * chunk.capacity()));
        Ok(Some(pool.lend(chunk)).filter(|chunk| !chunk.is_empty()))
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
            let most = columns::most_bytes::<T>(capacity - self.items.len());
            let length = length(self.rest.end - self.rest.start).min(space.bytes.len()).min(most);
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
    if merged.len() > MERGED
        && let Some((low, high)) = halves(&runs)
    {
        let (left, right) = merged.split_at_mut(low.iter().map(|run| run.len()).sum());
        rayon::join(|| merge(low, left), || merge(high, right));
        return;
    }
    let mut rest = &mut *merged;
    for run in runs {
        rest.split_off_mut(..run.len()).into_iter().for_each(|part| part.copy_from_slice(run));
    }
    // The stable sort of the standard library finds the runs and merges them. More items than fit a piece are equal.
    if merged.len() <= MERGED {
        merged.sort();
    }
}

/// Two parts of some runs, without empty ones.
type Halves<'a, T> = (Vec<&'a [T]>, Vec<&'a [T]>);

/// What of each run comes before an item and what behind it, each at least some quarter of all if the items differ;
/// `None` if all are equal.
fn halves<'a, T: Item>(runs: &[&'a [T]]) -> Option<Halves<'a, T>> {
    // The median of the middles of the runs, each with the weight of its length.
    let middle = |run: &&'a [T]| Some((*run.get(run.len() / 2)?, run.len()));
    let mut middles: Vec<(T, usize)> = runs.iter().filter_map(middle).collect();
    middles.sort_unstable();
    let mut rest = middles.iter().map(|&(_, weight)| weight).sum::<usize>() / 2;
    let &(median, _) = middles.iter().find(|&&(_, weight)| {
        let is_here = rest < weight;
        rest = rest.saturating_sub(weight);
        is_here
    })?;
    // Where many items are equal to the median, it comes with what is before it.
    divided(runs, |item| *item < median).or_else(|| divided(runs, |item| *item <= median))
}

/// What of each run `is_low`, and the rest; `None` if one of them is nothing.
fn divided<'a, T>(runs: &[&'a [T]], is_low: impl Fn(&T) -> bool) -> Option<Halves<'a, T>> {
    let (mut low, mut high): Halves<'a, T> = runs.iter().map(|run| run.split_at(run.partition_point(&is_low))).unzip();
    low.retain(|run| !run.is_empty());
    high.retain(|run| !run.is_empty());
    (!low.is_empty() && !high.is_empty()).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of any lengths, of items far apart or equal, and thousands of runs that follow each other.
    #[test]
    fn runs_merge_to_what_sorting_gives() {
        let even = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
        let apart = (0..3000).map(|run| (0..40).map(|item| run * 1000 + item).collect()).collect();
        let runs = |of: fn(u64) -> u64| -> Vec<Vec<u64>> {
            (0..60).map(|run: u64| (0..even(run) % 9_000).map(|item| of(even(run << 32 | item))).collect()).collect()
        };
        for mut runs in [apart, runs(|e| e), runs(|e| e % 1000), runs(|e| if e % 9 == 0 { e } else { 7 }), runs(|_| 7)]
        {
            runs.iter_mut().for_each(|run| run.sort_unstable());
            let mut expected = runs.concat();
            expected.sort_unstable();
            assert!(expected.len() > 3 * MERGED);
            let mut merged = vec![0; expected.len()];
            merge(runs.iter().map(Vec::as_slice).collect(), &mut merged);
            assert!(merged == expected);
        }
    }
}
