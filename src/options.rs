//! How an open store behaves; nothing here is persisted.

use crate::env::{Env, FileSystem, ReadMode};
use crate::executor::Executor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Loads never get less: runs of a few records each would take forever to merge. Fuzzers have few records.
pub(crate) const LEAST_LOAD_MEMORY: u64 = if cfg!(fuzzing) { 1 << 16 } else { 1 << 18 };

/// Memory that filters, and loads, may take where the system does not tell how much is available.
const FALLBACK_MEMORY: u64 = 1 << 30;

/// Options of an open store.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) read_mode: ReadMode,
    pub(crate) env: Arc<dyn Env>,
    pub(crate) filters: Filters,
    pub(crate) filter_memory: Option<u64>,
    load_memory: Option<u64>,
    pub(crate) temp_dir: Option<PathBuf>,
    pub(crate) memtable_memory: u64,
    pub(crate) maintenance: Maintenance,
    pub(crate) executor: Arc<Executor>,
}

/// Who moves writes from memory to segments, and merges segments, when that is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Maintenance {
    /// Threads of the store's own, while writes and queries go on.
    #[default]
    Background,
    /// The thread whose write makes it due, before the write returns: nothing ever happens behind the caller's back.
    Foreground,
    /// Nobody, but who calls [`crate::Store::flush`] and [`crate::Store::compact`]. Memory grows until then.
    Manual,
}

/// When prefix filters are made. They take about a byte of memory for each fingerprint and table (two where a table
/// is probed within radius 2 or more), and spare queries most of the blocks that they would decode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filters {
    /// After opening, while queries already run: they become faster when the filters are there.
    #[default]
    Background,
    /// Before opening returns.
    AtOpen,
    /// Never.
    Off,
}

impl Default for Options {
    /// The real file system, read by memory map; filters made in the background, in at most half of the memory that
    /// is available ([`Options::with_filter_memory`]), and so do loads ([`Options::with_load_memory`]); memtables of 64 MiB,
    /// and maintenance in the background.
    fn default() -> Self {
        Self {
            read_mode: ReadMode::default(),
            env: Arc::new(FileSystem),
            filters: Filters::default(),
            filter_memory: None,
            load_memory: None,
            temp_dir: None,
            memtable_memory: 64 << 20,
            maintenance: Maintenance::default(),
            executor: Arc::default(),
        }
    }
}

impl Options {
    /// The same as [`Options::default`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads segments in this way.
    #[must_use]
    pub fn with_read_mode(mut self, mode: ReadMode) -> Self {
        self.read_mode = mode;
        self
    }

    /// Keeps all files in this environment.
    #[must_use]
    pub fn with_env(mut self, env: Arc<dyn Env>) -> Self {
        self.env = env;
        self
    }

    /// Makes prefix filters at this time, or never.
    #[must_use]
    pub fn with_filters(mut self, filters: Filters) -> Self {
        self.filters = filters;
        self
    }

    /// Loads within about so many bytes of memory, beside a few mebibytes that every load takes; what does not fit is
    /// sorted in temporary files. Less than 256 KiB counts as so many.
    ///
    /// Without this option it is half of the memory that the process may still take when the load begins, found out as for
    /// [`Options::with_filter_memory`]; 1 GiB where the system does not tell.
    #[must_use]
    pub fn with_load_memory(mut self, bytes: u64) -> Self {
        self.load_memory = Some(bytes.max(LEAST_LOAD_MEMORY));
        self
    }

    /// Makes the temporary files of loads in this directory; without it, in the store's or the one above it. They have no
    /// names and vanish with the process.
    #[must_use]
    pub fn with_temp_dir(mut self, directory: Option<&Path>) -> Self {
        self.temp_dir = directory.map(Path::to_owned);
        self
    }

    /// Keeps the latest writes in memtables of about so many bytes; there may be four of them. One of 64 MiB has room for
    /// a million records and more.
    #[must_use]
    pub fn with_memtable_memory(mut self, bytes: u64) -> Self {
        self.memtable_memory = bytes;
        self
    }

    /// Has writes moved to segments, and segments merged, by these threads.
    #[must_use]
    pub fn with_maintenance(mut self, maintenance: Maintenance) -> Self {
        self.maintenance = maintenance;
        self
    }

    /// Works on so many threads: loads, compactions, joins and batches of queries. Stores that are opened with clones of the
    /// same options share them; threads start when there is something to do, and stay for the next operation. An operation that
    /// begins while another one is at work has threads of its own. Without this option there are as many as the process may use
    /// processors ([`std::thread::available_parallelism`]).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.executor = Arc::new(Executor::new(threads));
        self
    }

    /// Makes filters only as far as they take at most so many bytes of memory in all, table by table, oldest segments
    /// first. [`crate::admin::FilterStatistics`] tells what this leaves out.
    ///
    /// Without this option it is half of the memory that the process may still take when the store first has a table to
    /// make a filter for. On Linux that memory is the least of `MemAvailable` in `/proc/meminfo` and of what the limits of
    /// the process's control groups leave; elsewhere filters take at most 1 GiB.
    #[must_use]
    pub fn with_filter_memory(mut self, bytes: u64) -> Self {
        self.filter_memory = Some(bytes);
        self
    }

    /// Memory that filters may take in all, as of now.
    pub(crate) fn filter_budget(&self) -> u64 {
        self.filter_memory.unwrap_or_else(|| self.half_of_available())
    }

    /// Memory that a load may take, as of now.
    pub(crate) fn load_memory(&self) -> u64 {
        self.load_memory.unwrap_or_else(|| self.half_of_available().max(LEAST_LOAD_MEMORY))
    }

    fn half_of_available(&self) -> u64 {
        self.env.available_memory().map_or(FALLBACK_MEMORY, |bytes| bytes / 2)
    }
}
