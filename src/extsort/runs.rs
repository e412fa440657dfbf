//! Sorted runs of items in one temporary file.
//!
//! Items are written raw, each with the same number of bytes, so any one can be read by its number. Of each run every
//! so many items are kept in memory too, so that a search reads but the last few.

use crate::env::{Env, ScratchFile};
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::extsort::item::Item;
use crate::extsort::lengths::{TRANSFER, bytes_of, length};
use crate::extsort::peak::Peak;
use std::path::PathBuf;
use std::sync::Arc;

/// Distance between the items that are kept in memory, at first.
const STEP: u64 = 256;

/// One run: distinct items, ascending.
#[derive(Debug)]
pub(crate) struct SortedRun<T> {
    /// Number of its first item in the file.
    first: u64,
    /// Number of items.
    pub(crate) count: u64,
    /// Its items with the numbers 0, step, 2 step...
    pub(crate) samples: Vec<T>,
}

/// All runs.
#[derive(Debug)]
pub(crate) struct Runs<T> {
    pub(crate) directory: PathBuf,
    pub(crate) executor: Arc<Executor>,
    /// There is one as soon as there is a run.
    file: Option<Box<dyn ScratchFile>>,
    pub(crate) runs: Vec<SortedRun<T>>,
    /// Distance between samples.
    pub(crate) step: u64,
    /// Number of samples there may be.
    most_samples: u64,
    /// Of the iterators over these runs.
    pub(crate) peak: Peak,
}

impl<T: Item> Runs<T> {
    /// No runs yet; samples may take `memory` bytes.
    pub(crate) fn new(directory: PathBuf, executor: Arc<Executor>, memory: u64) -> Self {
        let most_samples = memory / bytes_of::<T>(1).max(1);
        Self { directory, executor, file: None, runs: Vec::new(), step: STEP, most_samples, peak: Peak::default() }
    }

    /// Appends a run of items, `transfer` bytes at once.
    pub(crate) fn append(&mut self, env: &Arc<dyn Env>, items: &[T], transfer: u64) -> Result<()> {
        let fail = |error| Error::temporary("cannot write temporary data to", &self.directory, error);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(env.scratch(&self.directory).map_err(fail)?),
        };
        let first = file.length() / T::BYTES.max(1) as u64;
        let at_once = (length(transfer) / T::BYTES.max(1)).max(1);
        let mut bytes = Vec::with_capacity(at_once.min(items.len()) * T::BYTES);
        for items in items.chunks(at_once) {
            bytes.clear();
            items.iter().for_each(|item| item.write(&mut bytes));
            file.append(&bytes).map_err(fail)?;
        }
        let samples = items.iter().step_by(length(self.step)).copied().collect();
        self.runs.push(SortedRun { first, count: items.len() as u64, samples });
        self.thin();
        Ok(())
    }

    /// Drops every other sample until they are few enough; the first one of each run stays.
    fn thin(&mut self) {
        let most = self.most_samples.max(2 * self.runs.len() as u64);
        while self.runs.iter().map(|run| run.samples.len() as u64).sum::<u64>() > most {
            self.step *= 2;
            self.runs.iter_mut().for_each(|run| run.samples = run.samples.iter().step_by(2).copied().collect());
        }
    }

    /// Fills `items` with those of a run from number `from` on, by way of `bytes`, of whose capacity there is use.
    pub(crate) fn read(&self, run: &SortedRun<T>, from: u64, items: &mut [T], bytes: &mut Vec<u8>) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let at_once = (bytes.capacity() / T::BYTES.max(1)).max(1);
        let mut offset = (run.first + from) * T::BYTES as u64;
        for items in items.chunks_mut(at_once) {
            bytes.resize(items.len() * T::BYTES, 0);
            let read = file.read_at(offset, bytes);
            read.map_err(|error| Error::temporary("cannot read temporary data in", &self.directory, error))?;
            items.iter_mut().zip(bytes.chunks_exact(T::BYTES)).for_each(|(item, bytes)| *item = T::read(bytes));
            offset += bytes.len() as u64;
        }
        Ok(())
    }
}

/// Bytes to transfer at once where `memory` is to be used.
pub(crate) fn transfer(memory: u64) -> u64 {
    TRANSFER.min(memory / 16)
}
