//! The memory and the temporary directory of a load.

use crate::env::Env;
use crate::executor::Executor;
use crate::extsort::item::NumberedRecord;
use crate::fingerprint::Fingerprint;
use crate::options::{LEAST_LOAD_MEMORY, Options};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Smallest and largest piece: larger ones save no more calls.
const MIN_PIECE: usize = 64 << 10;
const MAX_PIECE: usize = 4 << 20;

/// Most sampled fingerprints; more do not improve the estimate.
const MOST_SAMPLED: usize = 4 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    pub(crate) env: Arc<dyn Env>,
    pub(crate) executor: Arc<Executor>,
    pub(crate) directory: PathBuf,
    pub(crate) memory: u64,
}

impl Workspace {
    pub(crate) fn new(path: &Path, options: &Options) -> Self {
        Self::of_memory(path, options, options.load_memory())
    }

    pub(crate) fn of_memory(path: &Path, options: &Options, memory: u64) -> Self {
        // The store, and the directories above it, may not exist yet.
        let here = |above: &&Path| !above.as_os_str().is_empty() && options.env.list(above).is_ok();
        let around = || path.ancestors().find(here).unwrap_or(Path::new(".")).to_owned();
        let directory = options.temp_dir.clone().unwrap_or_else(around);
        let (env, executor) = (Arc::clone(&options.env), Arc::clone(&options.executor));
        Self { env, executor, directory, memory }
    }

    /// The same without `bytes` bytes of memory, but at least [`LEAST_LOAD_MEMORY`].
    pub(crate) fn without(&self, bytes: u64) -> Self {
        Self { memory: self.memory.saturating_sub(bytes).max(LEAST_LOAD_MEMORY), ..self.clone() }
    }

    pub(crate) fn part(&self, parts: u64) -> Self {
        Self { memory: (self.memory / parts.max(1)).max(LEAST_LOAD_MEMORY), ..self.clone() }
    }

    /// Bytes that are passed on, written or read at once; each thread has a few such pieces.
    pub(crate) fn piece(&self) -> usize {
        let piece = self.memory / 64 / self.executor.threads() as u64;
        usize::try_from(piece).unwrap_or(usize::MAX).clamp(MIN_PIECE, MAX_PIECE)
    }

    /// Bytes for the input of a sort.
    pub(crate) fn memory_of_records(&self) -> u64 {
        self.memory / 4 * 3
    }

    /// Bytes for sorted records on their way to a segment.
    pub(crate) fn memory_of_chunks(&self) -> u64 {
        self.memory / 4
    }

    /// Bytes for fingerprints that stay in memory for the secondary tables.
    pub(crate) fn memory_of_fingerprints(&self) -> u64 {
        self.memory / 8
    }

    /// Bytes for the keys of all tables in progress.
    pub(crate) fn memory_of_tables(&self) -> u64 {
        self.memory / 2
    }

    /// Most fingerprints to measure skew on if not all are in memory; measuring copies them several times.
    pub(crate) fn most_sampled<F: Fingerprint>(&self) -> usize {
        usize::try_from(self.memory / 16 / size_of::<NumberedRecord<F>>() as u64)
            .unwrap_or(usize::MAX)
            .min(MOST_SAMPLED)
    }
}
