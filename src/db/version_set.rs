//! What a store consists of now, and the manifest that says so.

use crate::db::health::Failing;
use crate::db::next::Next;
use crate::format::manifest::ManifestData;
use crate::memtable::Memtable;
use crate::version::{Run, SuperVersion};
use std::collections::VecDeque;
use std::sync::Arc;

/// The parts of a store. What is on disk, `manifest` says; memtables are in the logs.
#[derive(Debug)]
pub(crate) struct VersionSet {
    pub(crate) manifest: ManifestData,
    /// Those of the manifest, open.
    pub(crate) runs: Vec<Arc<Run>>,
    /// Full memtables that wait for their flush, oldest first.
    pub(crate) sealed: VecDeque<Sealed>,
    /// The memtable that is being written to.
    pub(crate) active: Option<Arc<Memtable>>,
    /// The one after it.
    pub(crate) next: Next,
    /// Whether there is a manifest on disk: not before the store is created.
    pub(crate) is_placed: bool,
    /// What keeps memtables from being moved to segments.
    pub(crate) flushing: Option<Failing>,
    /// What keeps runs from being merged.
    pub(crate) merging: Option<Failing>,
    /// The store is being closed.
    pub(crate) closing: bool,
}

/// A memtable to which nothing is added any more.
#[derive(Clone, Debug)]
pub(crate) struct Sealed {
    pub(crate) memtable: Arc<Memtable>,
    /// The first and the last sequence number of its writes.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The number of the log in which later writes begin.
    pub(crate) next_log: u64,
    /// The next number for a record without an id, after its writes.
    pub(crate) next_id: u64,
    /// Bytes that its writes took in logs.
    pub(crate) log_bytes: u64,
}

impl VersionSet {
    pub(crate) fn new(manifest: ManifestData, runs: Vec<Arc<Run>>) -> Self {
        Self {
            manifest,
            runs,
            sealed: VecDeque::new(),
            active: None,
            next: Next::Later,
            is_placed: true,
            flushing: None,
            merging: None,
            closing: false,
        }
    }

    /// What readers are to see.
    pub(crate) fn view(&self) -> SuperVersion {
        let sealed = self.sealed.iter().map(|sealed| &sealed.memtable);
        SuperVersion::new(self.runs.clone(), sealed.chain(&self.active).cloned().collect())
    }
}
