//! What a load may use: memory, and a directory for what does not fit it.

use crate::env::Env;
use crate::executor::Executor;
use crate::extsort::item::NumberedRecord;
use crate::fingerprint::Fingerprint;
use crate::options::{LEAST_LOAD_MEMORY, Options};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Smallest and largest piece: small ones cost calls, large ones save none any more.
const MIN_PIECE: usize = 64 << 10;
const MAX_PIECE: usize = 4 << 20;

/// More tell nothing more.
const MOST_SAMPLED: usize = 4 << 20;

/// Memory and temporary files of a load.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    pub(crate) env: Arc<dyn Env>,
    pub(crate) executor: Arc<Executor>,
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
        let (env, executor) = (Arc::clone(&options.env), Arc::clone(&options.executor));
        Self { env, executor, directory, memory: options.load_memory }
    }

    /// The same with so many bytes of memory less, which something else takes; never nothing.
    pub(crate) fn without(&self, bytes: u64) -> Self {
        Self { memory: self.memory.saturating_sub(bytes).max(LEAST_LOAD_MEMORY), ..self.clone() }
    }

    /// The same with one part of the memory, of so many.
    pub(crate) fn part(&self, parts: u64) -> Self {
        Self { memory: (self.memory / parts.max(1)).max(LEAST_LOAD_MEMORY), ..self.clone() }
    }

    /// Bytes that are handed on, written or read at once: each thread has a few such pieces.
    pub(crate) fn piece(&self) -> usize {
        let piece = self.memory / 64 / self.executor.threads() as u64;
        usize::try_from(piece).unwrap_or(usize::MAX).clamp(MIN_PIECE, MAX_PIECE)
    }

    /// Bytes for the records that are read, before the first of them is sorted.
    pub(crate) fn memory_of_records(&self) -> u64 {
        self.memory / 4 * 3
    }

    /// Bytes for sorted records on their way to a segment.
    pub(crate) fn memory_of_chunks(&self) -> u64 {
        self.memory / 4
    }

    /// Bytes of fingerprints that are kept in memory for the tables behind the first.
    pub(crate) fn memory_of_fingerprints(&self) -> u64 {
        self.memory / 8
    }

    /// Bytes for the keys of all tables that are being made.
    pub(crate) fn memory_of_tables(&self) -> u64 {
        self.memory / 2
    }

    /// Bytes for the keys of one of them, of as many as there are threads.
    pub(crate) fn memory_of_table(&self) -> u64 {
        self.memory_of_tables() / self.executor.threads() as u64
    }

    /// Fingerprints that skew is measured on, at most, where not all of them are in memory: measuring copies them some
    /// times.
    pub(crate) fn most_sampled<F: Fingerprint>(&self) -> usize {
        usize::try_from(self.memory / 16 / size_of::<NumberedRecord<F>>() as u64)
            .unwrap_or(usize::MAX)
            .min(MOST_SAMPLED)
    }
}
