//! The keys of the secondary tables, which stand in another order than the fingerprints.
//!
//! The number of all fingerprints determines the bits of narrow keys, and is known only after the last one. So the
//! builder keeps the fingerprints, in memory or in a temporary file, and makes the keys of one table after another from
//! them. The keys of 64-bit fingerprints are the same for any number: if the fingerprints do not fit the memory, the
//! keys of few tables are sorted as the fingerprints come, which saves writing and reading these.

use crate::error::Result;
use crate::extsort::{Sorter, Spool, Workspace, sorted};
use crate::fingerprint::Fingerprint;
use crate::plan::{TableForm, TableLayout};
use crate::segment::build::key_sorters::KeySorters;
use rayon::prelude::*;

pub(crate) struct SecondaryKeyBuffer<'a, F: Fingerprint> {
    /// The layouts of the secondary tables.
    layouts: &'a [TableLayout],
    memory: Vec<F>,
    /// Bytes of fingerprints that may stay in memory.
    limit: u64,
    /// Whether the keys are sorted as the fingerprints come, once these do not fit the memory.
    sorts_early: bool,
    spilled: Option<Spilled<'a>>,
    count: u64,
}

/// Where fingerprints are that do not fit the memory.
enum Spilled<'a> {
    Fingerprints(Spool),
    Keys(KeySorters<'a>),
}

impl<'a, F: Fingerprint> SecondaryKeyBuffer<'a, F> {
    /// `layouts` are those of the secondary tables. `at_once`: the memory has all records.
    pub(crate) fn new(layouts: &'a [TableLayout], workspace: &Workspace, at_once: bool) -> Self {
        // No more tables have runs at a time than if each thread made one; and the memory of records is not free yet.
        let sorts_early = F::WIDTH == 64 && layouts.len() <= workspace.executor.threads() && !at_once;
        let limit = workspace.memory_of_fingerprints();
        Self { layouts, memory: Vec::new(), limit, sorts_early, spilled: None, count: 0 }
    }

    pub(crate) fn counted(&self) -> u64 {
        self.count
    }

    pub(crate) fn count(&mut self, more: usize) {
        self.count += more as u64;
    }

    /// Whether all fingerprints still fit the memory with these.
    pub(crate) fn fits_memory(&self, more: &[F]) -> bool {
        self.spilled.is_none() && (self.count + more.len() as u64).saturating_mul(size_of::<F>() as u64) <= self.limit
    }

    /// The fingerprints in memory: all, unless they were spilled.
    pub(crate) fn in_memory(&self) -> &[F] {
        &self.memory
    }

    /// Keeps these fingerprints in memory, which they fit. Takes the vector itself if it is the first one.
    pub(crate) fn keep(&mut self, fingerprints: &mut Vec<F>) {
        self.count += fingerprints.len() as u64;
        if self.memory.is_empty() {
            self.memory = std::mem::take(fingerprints);
        } else {
            self.memory.extend_from_slice(fingerprints);
        }
    }

    /// Takes these fingerprints, which do not fit the memory with those in it.
    pub(crate) fn spill(&mut self, fingerprints: &[F], workspace: &Workspace) -> Result<()> {
        self.count += fingerprints.len() as u64;
        let piece = workspace.piece();
        let spilled = self.spilled.get_or_insert_with(|| match self.sorts_early {
            true => Spilled::Keys(KeySorters::new(self.layouts, workspace, workspace.memory_of_tables())),
            false => Spilled::Fingerprints(Spool::new(workspace, piece)),
        });
        let all = [&std::mem::take(&mut self.memory), fingerprints];
        match spilled {
            Spilled::Keys(sorters) => all.into_iter().try_for_each(|fingerprints| sorters.extend(fingerprints)),
            Spilled::Fingerprints(spool) => {
                let mut bytes = Vec::with_capacity(piece);
                let mut chunks =
                    all.into_iter().flat_map(|fingerprints| fingerprints.chunks((piece / F::BYTES).max(1)));
                chunks.try_for_each(|chunk| {
                    chunk.iter().for_each(|fingerprint| fingerprint.write_le(&mut bytes));
                    spool.append(&mut bytes)
                })
            }
        }
    }

    /// How many tables may be encoded at the same time, each with its keys and a copy of them, sorted or not.
    pub(crate) fn tables_at_once(&self, workspace: &Workspace) -> usize {
        let keys = if self.spilled.is_some() { 0 } else { self.count.saturating_mul(2 * size_of::<u64>() as u64) };
        let tables = workspace.memory_of_tables().checked_div(keys).unwrap_or(u64::MAX);
        usize::try_from(tables).unwrap_or(usize::MAX).max(1)
    }

    pub(crate) fn are_in_memory(&self) -> bool {
        self.memory.len() as u64 == self.count
    }

    /// The stored keys of table `number`, ascending, if the fingerprints are in memory. All free threads sort.
    pub(crate) fn sorted_keys(&self, number: usize, layout: &TableLayout) -> Option<Vec<u64>> {
        let key = self.key(number, layout);
        let make = |row, &fingerprint: &F| key(row as u64, fingerprint);
        if !self.are_in_memory() {
            return None;
        }
        if F::WIDTH == 64 {
            return Some(sorted(&self.memory, make, |&key| key));
        }
        // Sorting asks for each key three times, and those of wide fingerprints take long to make.
        let keys: Vec<u64> =
            self.memory.par_iter().enumerate().map(|(row, fingerprint)| make(row, fingerprint)).collect();
        Some(sorted(&keys, |_, &key| key, |&key| key))
    }

    /// The key of a row and its fingerprint in table `number`.
    fn key(&self, number: usize, layout: &TableLayout) -> impl Fn(u64, F) -> u64 {
        let form = TableForm::new(F::WIDTH, number, layout.leading, self.count);
        move |row, fingerprint| form.narrow_key(layout.permutation.head(fingerprint), row)
    }

    /// Calls `visit` with the stored keys of table `number`, ascending, in pieces.
    pub(crate) fn keys(
        &self,
        number: usize,
        layout: &TableLayout,
        workspace: &Workspace,
        mut visit: impl FnMut(&[u64]) -> Result<()>,
    ) -> Result<()> {
        let (sorted, memory) = match &self.spilled {
            None => return visit(&self.sorted_keys(number, layout).unwrap_or_default()),
            Some(Spilled::Keys(sorters)) => (sorters.take(number)?, sorters.memory()),
            Some(Spilled::Fingerprints(spool)) => {
                // Each thread may make a table.
                let memory = workspace.memory_of_tables() / workspace.executor.threads() as u64;
                let key = self.key(number, layout);
                let mut sorter = Sorter::new(workspace, memory);
                let (mut row, mut keys) = (0, Vec::new());
                spool.visit(F::BYTES, |piece| {
                    let all = piece.chunks_exact(F::BYTES).map(|bytes| F::from_le_bytes(bytes).unwrap_or_default());
                    keys.clear();
                    keys.extend(all.zip(row..).map(|(fingerprint, row)| key(row, fingerprint)));
                    row += keys.len() as u64;
                    sorter.extend(&keys)
                })?;
                (Some(sorter.finish()?), memory)
            }
        };
        sorted.iter().flat_map(|sorted| sorted.chunks(memory)).try_for_each(|chunk| visit(&chunk?))
    }
}
