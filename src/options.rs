//! The options of an open store, none of which is persisted.

use crate::env::{Env, FileSystem, PageCache, ReadMode};
use crate::executor::Executor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Least memory of a load: with less, runs would be too many to merge. Fuzzers have few records.
pub(crate) const LEAST_LOAD_MEMORY: u64 = if cfg!(fuzzing) { 1 << 16 } else { 1 << 18 };

/// Memory of filters, and of loads, if the available memory is unknown.
const FALLBACK_MEMORY: u64 = 1 << 30;

/// Options of an open store.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) read_mode: ReadMode,
    pub(crate) page_cache: Arc<PageCache>,
    pub(crate) env: Arc<dyn Env>,
    pub(crate) filters: Filters,
    pub(crate) filter_memory: Option<u64>,
    load_memory: Option<u64>,
    pub(crate) temp_dir: Option<PathBuf>,
    pub(crate) memtable_memory: u64,
    pub(crate) maintenance: Maintenance,
    pub(crate) executor: Arc<Executor>,
}

/// The threads that flush memtables and compact segments when due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Maintenance {
    /// The store's own threads, while writes and queries go on.
    #[default]
    Background,
    /// The thread whose write makes it due, before the write returns. Nothing happens in the background.
    Foreground,
    /// Only callers of [`crate::Store::flush`] and [`crate::Store::compact`]. Memory grows until then.
    Manual,
}

/// When prefix filters are made. They take 1 to 4 bytes of memory a fingerprint and table
/// ([`Options::with_filter_memory`]), and save queries most of the blocks they would decode. Where files have them
/// ([`crate::Store::save_filters`]), they are read, which takes some thirtieth of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filters {
    /// After the first 256 queries, while more run and become faster table by table. A program with few queries makes
    /// and reads none.
    #[default]
    Background,
    /// Before opening returns.
    AtOpen,
    /// Never.
    Off,
}

impl Default for Options {
    /// The real file system, read by memory map; 64 MiB for pages where it is not; filters made in the background after
    /// some queries, in at most half of the available memory ([`Options::with_filter_memory`]); loads too
    /// ([`Options::with_load_memory`]); memtables of 64 MiB; maintenance in the background.
    fn default() -> Self {
        Self {
            read_mode: ReadMode::default(),
            page_cache: Arc::new(PageCache::new(64 << 20)),
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

    /// Keeps the pages that are read with [`ReadMode::Pread`], but not text ids, in at most about this many bytes of
    /// memory, 64 MiB by default (1 TiB at most), and a page more for each searcher. A page there is neither read nor
    /// checked again. Stores opened with clones of the same options share the memory; maps ([`ReadMode::Mmap`]) do not
    /// need it.
    #[must_use]
    pub fn with_page_cache(mut self, bytes: u64) -> Self {
        self.page_cache = Arc::new(PageCache::new(bytes));
        self
    }

    /// Keeps all files in this environment.
    #[must_use]
    pub fn with_env(mut self, env: Arc<dyn Env>) -> Self {
        self.env = env;
        self
    }

    /// Makes prefix filters at this time.
    #[must_use]
    pub fn with_filters(mut self, filters: Filters) -> Self {
        self.filters = filters;
        self
    }

    /// Loads within about this many bytes of memory, at least 256 KiB, and a few mebibytes that every load takes.
    /// Records beyond that are sorted in temporary files.
    ///
    /// The default is half of the memory that the process may still take when the load begins
    /// ([`Options::with_filter_memory`] says how it is determined), and 1 GiB if that is unknown.
    #[must_use]
    pub fn with_load_memory(mut self, bytes: u64) -> Self {
        self.load_memory = Some(bytes.max(LEAST_LOAD_MEMORY));
        self
    }

    /// Makes the temporary files of loads in this directory instead of the store's or the one above it. They have no
    /// names and vanish with the process.
    #[must_use]
    pub fn with_temp_dir(mut self, directory: Option<&Path>) -> Self {
        self.temp_dir = directory.map(Path::to_owned);
        self
    }

    /// Keeps the latest writes in memtables of about this many bytes; there may be four of them. One of 64 MiB has
    /// space for more than a million records.
    #[must_use]
    pub fn with_memtable_memory(mut self, bytes: u64) -> Self {
        self.memtable_memory = bytes;
        self
    }

    /// Flushes and compacts on these threads.
    #[must_use]
    pub fn with_maintenance(mut self, maintenance: Maintenance) -> Self {
        self.maintenance = maintenance;
        self
    }

    /// Runs loads, compactions, joins and batches of queries on this many threads; by default one a processor
    /// ([`std::thread::available_parallelism`]). Stores opened with clones of the same options share them. Threads
    /// start with the first operation and stay for the next one; an operation that starts during another one has its
    /// own threads. Pairs of records take twice as many, half of which mostly wait.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.executor = Arc::new(Executor::new(threads));
        self
    }

    /// Makes filters in at most this many bytes of memory in all; they have fewer bits if they should have more. A
    /// filter should have 1 to 4 bytes for each fingerprint of its table.
    /// [`crate::admin::FilterStatistics`] counts what is left out.
    ///
    /// The default is half of the memory that the process may still take when the store first makes a filter. On Linux
    /// that memory is the minimum of `MemAvailable` in `/proc/meminfo` and of the rest of the limits of the process's
    /// control groups; elsewhere filters take at most 1 GiB.
    #[must_use]
    pub fn with_filter_memory(mut self, bytes: u64) -> Self {
        self.filter_memory = Some(bytes);
        self
    }

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
