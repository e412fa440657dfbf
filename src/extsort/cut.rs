//! Where to cut runs so that a chunk fits in memory.
//!
//! A *cut* is a place in the order of all items: it takes a prefix of every run, those items that are at or before one
//! item. As the items of a run are distinct, the next cut is at most one item per run further, so there is always one
//! that takes no more than wanted, but for one case: one item stands in more runs than a chunk may have items. Then it
//! makes a chunk of its own.

use crate::error::Result;
use crate::extsort::item::Item;
use crate::extsort::lengths::length;
use crate::extsort::runs::Runs;
use std::sync::Arc;

/// The most items of a run that are read at once in a search.
const WINDOW: u64 = 256;

/// Finds cuts, one after another.
#[derive(Debug)]
pub(crate) struct Cutter<T> {
    pub(crate) runs: Arc<Runs<T>>,
    /// How much of each run the cut before has taken.
    pub(crate) taken: Vec<u64>,
    /// Items of each run near the place where it was searched last.
    windows: Vec<Window<T>>,
    /// Items of a window.
    window: u64,
    bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Window<T> {
    first: u64,
    items: Vec<T>,
}

/// A part of a run: its number, and the first item and the one behind the last.
pub(crate) type Slice = (usize, u64, u64);

/// What a chunk is made of.
#[derive(Debug)]
pub(crate) enum ChunkPart<T> {
    /// These parts of runs.
    Slices(Vec<Slice>),
    /// One item, which stands in many runs.
    Single(T),
}

impl<T: Item> Cutter<T> {
    /// Begins at the start of all runs. Searches may take `memory` bytes.
    pub(crate) fn new(runs: Arc<Runs<T>>, memory: u64) -> Self {
        let count = runs.runs.len();
        let window = (memory / ((count as u64 + 1) * (size_of::<T>().max(T::BYTES) as u64))).clamp(1, WINDOW);
        let empty = Window { first: 0, items: Vec::new() };
        let bytes = Vec::with_capacity(length(window) * T::BYTES);
        Self { taken: vec![0; count], windows: vec![empty; count], window, bytes, runs }
    }

    /// The next part of at most `most` items, as large as there is one, or none behind the last.
    pub(crate) fn next(&mut self, most: u64) -> Result<Option<ChunkPart<T>>> {
        let from = self.taken.clone();
        let all: Vec<u64> = self.runs.runs.iter().map(|run| run.count).collect();
        if from == all {
            return Ok(None);
        }
        // Between the two lies the cut that is searched: the lower one is a cut that may be taken.
        let (mut lower, mut upper) = (from.clone(), all);
        if distance(&from, &upper) <= most {
            lower.clone_from(&upper);
        }
        while let Some((run, number)) = self.pivot(&lower, &upper) {
            let item = self.item(run, number)?;
            let (before, behind) = self.around(item, &lower, &upper)?;
            if distance(&from, &behind) <= most { lower = behind } else { upper = before }
        }
        if lower == from {
            return self.single().map(Some);
        }
        let slices = from.iter().zip(&lower).enumerate().map(|(run, (&from, &to))| (run, from, to));
        let slices = slices.filter(|&(_, from, to)| from < to).collect();
        self.taken = lower;
        Ok(Some(ChunkPart::Slices(slices)))
    }

    /// An item in the middle of the run of which most is in question: run and number.
    fn pivot(&self, lower: &[u64], upper: &[u64]) -> Option<(usize, u64)> {
        let between = lower.iter().zip(upper).map(|(&from, &to)| (from, to)).enumerate();
        let (run, (from, to)) = between.max_by_key(|(_, (from, to))| to - from).filter(|(_, (from, to))| from < to)?;
        let step = self.runs.step;
        let sampled = from.next_multiple_of(step);
        let number = if sampled < to {
            // One that is in memory.
            sampled + (to - 1 - sampled) / step / 2 * step
        } else {
            from + (to - from) / 2
        };
        Some((run, number))
    }

    /// The cuts before and behind an item, both between `lower` and `upper`.
    fn around(&mut self, item: T, lower: &[u64], upper: &[u64]) -> Result<(Vec<u64>, Vec<u64>)> {
        let (mut before, mut behind) = (Vec::with_capacity(lower.len()), Vec::with_capacity(lower.len()));
        for (run, (&from, &to)) in lower.iter().zip(upper).enumerate() {
            let place = self.search(run, item, from, to)?;
            before.push(place);
            behind.push(place + u64::from(place < to && self.item(run, place)? == item));
        }
        Ok((before, behind))
    }

    /// Number of the first item of a run, from `from` on, that is not before `item`; `to` if there is none before
    /// that.
    fn search(&mut self, run: usize, item: T, mut from: u64, mut to: u64) -> Result<u64> {
        let step = self.runs.step;
        if let Some(run) = self.runs.runs.get(run) {
            let (first, end) = (from.div_ceil(step), to.div_ceil(step));
            let samples = run.samples.get(length(first)..length(end)).unwrap_or_default();
            let before = samples.partition_point(|&sample| sample < item) as u64;
            if first + before < end {
                to = (first + before) * step;
            }
            if before > 0 {
                from = (first + before - 1) * step + 1;
            }
        }
        while from < to {
            let middle = from + (to - from) / 2;
            if self.item(run, middle)? < item { from = middle + 1 } else { to = middle }
        }
        Ok(from)
    }

    /// An item by run and number.
    fn item(&mut self, number_of_run: usize, number: u64) -> Result<T> {
        let (Some(run), Some(window)) = (self.runs.runs.get(number_of_run), self.windows.get_mut(number_of_run)) else {
            return Ok(T::default());
        };
        if number.is_multiple_of(self.runs.step)
            && let Some(&sample) = run.samples.get(length(number / self.runs.step))
        {
            return Ok(sample);
        }
        let within = |window: &Window<T>| {
            number.checked_sub(window.first).and_then(|offset| window.items.get(length(offset)).copied())
        };
        if let Some(item) = within(window) {
            return Ok(item);
        }
        window.first = number / self.window * self.window;
        let count = length(self.window.min(run.count - window.first));
        window.items.clear();
        window.items.reserve_exact(count);
        window.items.resize(count, T::default());
        let read = self.runs.read(run, window.first, &mut window.items, &mut self.bytes);
        if read.is_err() {
            window.items.clear();
        }
        read?;
        Ok(within(window).unwrap_or_default())
    }

    /// The least item that is not taken yet, from all runs that have it.
    fn single(&mut self) -> Result<ChunkPart<T>> {
        let mut heads = Vec::with_capacity(self.taken.len());
        for (run, taken) in self.taken.clone().into_iter().enumerate() {
            let ends = self.runs.runs.get(run).is_none_or(|run| taken >= run.count);
            heads.push(if ends { None } else { Some(self.item(run, taken)?) });
        }
        let least = heads.iter().flatten().min().copied();
        self.taken
            .iter_mut()
            .zip(&heads)
            .for_each(|(taken, head)| *taken += u64::from(head.is_some() && *head == least));
        Ok(ChunkPart::Single(least.unwrap_or_default()))
    }
}

/// Number of items between two cuts.
fn distance(from: &[u64], to: &[u64]) -> u64 {
    from.iter().zip(to).map(|(from, to)| to - from).sum()
}
