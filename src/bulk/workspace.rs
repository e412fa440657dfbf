//! What a load may use: memory, and a directory for what does not fit it.

use super::external::{Item, Sorter};
use super::spool::Spool;
use crate::env::Env;
use crate::options::Options;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory and temporary files of a load.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    pub(crate) env: Arc<dyn Env>,
    /// Where temporary files are made; they have no names.
    pub(crate) directory: PathBuf,
    /// Bytes that all phases keep within, each by itself.
    pub(crate) memory: u64,
}

impl Workspace {
    /// What a load into the store at `path` may use.
    pub(crate) fn new(path: &Path, options: &Options) -> Self {
        // The store, and what is above it, may not be there yet.
        let here = |above: &&Path| !above.as_os_str().is_empty() && options.env.list(above).is_ok();
        let around = || path.ancestors().find(here).unwrap_or(Path::new(".")).to_owned();
        let directory = options.temp_dir.clone().unwrap_or_else(around);
        Self { env: Arc::clone(&options.env), directory, memory: options.load_memory }
    }

    /// Bytes for the records that are read, before the first of them is sorted.
    pub(crate) fn memory_of_records(&self) -> u64 {
        self.memory / 4 * 3
    }

    /// Bytes for sorted records on their way to a segment.
    pub(crate) fn memory_of_batches(&self) -> u64 {
        self.memory / 4
    }

    /// Bytes of fingerprints that are kept in memory for the tables behind the first.
    pub(super) fn memory_of_fingerprints(&self) -> u64 {
        self.memory / 8
    }

    /// Bytes for the keys of all tables that are being made.
    pub(super) fn memory_of_tables(&self) -> u64 {
        self.memory / 2
    }

    /// Bytes for the keys of one of them, of as many as there are threads.
    pub(super) fn memory_of_table(&self) -> u64 {
        self.memory_of_tables() / rayon::current_num_threads().max(1) as u64
    }

    /// For bytes that wait for their place in the file: ids, and a section for each thread but the one that writes.
    pub(super) fn spool(&self) -> Spool {
        let memory = self.memory / 16 / rayon::current_num_threads().max(1) as u64;
        Spool::new(&self.env, &self.directory, usize::try_from(memory).unwrap_or(usize::MAX))
    }

    /// A sorter that keeps within so many bytes.
    pub(crate) fn sorter<T: Item>(&self, memory: u64) -> Sorter<T> {
        Sorter::new(Arc::clone(&self.env), self.directory.clone(), memory)
    }
}
