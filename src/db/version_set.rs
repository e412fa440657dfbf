//! The parts of a store, as its writers see them.

use crate::db::health::Failing;
use crate::format::manifest::ManifestData;
use crate::memtable::Memtable;
use crate::version::{Run, SuperVersion};
use crate::wal::Promise;
use std::collections::VecDeque;
use std::sync::Arc;

/// The manifest, the open runs, and the memtables, whose writes are in the logs.
#[derive(Debug)]
pub(crate) struct VersionSet {
    pub(crate) manifest: ManifestData,
    /// The runs of the manifest, oldest first.
    pub(crate) runs: Vec<Arc<Run>>,
    /// Replaced runs. The compaction thread drops them, because unmapping and removing large files takes time.
    pub(crate) obsolete: Vec<Arc<Run>>,
    /// Memtables that wait for their flush, oldest first.
    pub(crate) sealed: VecDeque<Sealed>,
    /// The memtable that takes writes.
    pub(crate) active: Option<Arc<Memtable>>,
    pub(crate) next: NextMemtable,
    /// Whether there is a manifest on disk: not before the store is created.
    pub(crate) is_placed: bool,
    pub(crate) flushing: Option<Failing>,
    pub(crate) compacting: Option<Failing>,
    pub(crate) closing: bool,
}

/// The state of the memtable after the active one.
#[derive(Debug)]
pub(crate) enum NextMemtable {
    /// Not needed yet.
    Later,
    /// The flush thread is to allocate it, and to make these frames durable.
    Wanted(Option<Promise>),
    /// It is being allocated, or that failed; then the write that needs it tries again.
    Tried,
    Made(Arc<Memtable>),
}

/// A memtable that takes no more writes.
#[derive(Clone, Debug)]
pub(crate) struct Sealed {
    pub(crate) memtable: Arc<Memtable>,
    /// The first and the last sequence number of its writes.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The number of the log in which later writes begin.
    pub(crate) next_log: u64,
    pub(crate) next_id: u64,
    pub(crate) log_bytes: u64,
}

impl VersionSet {
    pub(crate) fn new(manifest: ManifestData, runs: Vec<Arc<Run>>) -> Self {
        Self {
            manifest,
            runs,
            obsolete: Vec::new(),
            sealed: VecDeque::new(),
            active: None,
            next: NextMemtable::Later,
            is_placed: true,
            flushing: None,
            compacting: None,
            closing: false,
        }
    }

    pub(crate) fn super_version(&self) -> SuperVersion {
        let sealed = self.sealed.iter().map(|sealed| &sealed.memtable);
        SuperVersion::new(self.runs.clone(), sealed.chain(&self.active).cloned().collect())
    }
}
