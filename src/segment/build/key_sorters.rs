//! Sorts the keys of the secondary tables of 64-bit fingerprints while the fingerprints come.

use crate::error::Result;
use crate::executor::Mutex;
use crate::extsort::{Sorted, Sorter, Workspace};
use crate::fingerprint::Fingerprint;
use crate::plan::TableLayout;
use rayon::prelude::*;

/// Fingerprints whose keys are made together.
const TOGETHER: usize = 1 << 12;

#[derive(Debug)]
pub(crate) struct KeySorters<'a> {
    tables: Vec<(&'a TableLayout, Mutex<Option<Sorter<u64>>>)>,
    /// Bytes of memory for the keys of a table; keys beyond that go to temporary files.
    memory: u64,
}

impl<'a> KeySorters<'a> {
    /// `layouts` are those of the secondary tables, which share the memory.
    pub(crate) fn new(layouts: &'a [TableLayout], workspace: &Workspace, memory: u64) -> Self {
        let memory = memory / (layouts.len() as u64).max(1);
        let sorter = |layout| (layout, Mutex::new(Some(Sorter::new(workspace, memory))));
        Self { tables: layouts.iter().map(sorter).collect(), memory }
    }

    pub(crate) fn push<F: Fingerprint>(&self, fingerprint: F) -> Result<()> {
        self.tables.iter().try_for_each(|(layout, sorter)| match &mut *sorter.lock() {
            Some(sorter) => sorter.push(layout.permutation.head(fingerprint)),
            None => Ok(()),
        })
    }

    /// Takes many fingerprints, for all tables at the same time.
    pub(crate) fn extend<F: Fingerprint>(&self, fingerprints: &[F]) -> Result<()> {
        self.tables.par_iter().try_for_each(|(layout, sorter)| {
            let (mut sorter, mut keys) = (sorter.lock(), Vec::with_capacity(TOGETHER));
            let Some(sorter) = &mut *sorter else { return Ok(()) };
            fingerprints.chunks(TOGETHER).try_for_each(|fingerprints| {
                keys.clear();
                keys.extend(fingerprints.iter().map(|&fingerprint| layout.permutation.head(fingerprint)));
                sorter.extend(&keys)
            })
        })
    }

    /// The keys of table `number` of the segment. Returns them once.
    pub(crate) fn take(&self, number: usize) -> Result<Option<Sorted<u64>>> {
        let table = number.checked_sub(1).and_then(|number| self.tables.get(number));
        table.and_then(|(_, sorter)| sorter.lock().take()).map(Sorter::finish).transpose()
    }

    /// Bytes of memory to read the keys of a table.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }
}
