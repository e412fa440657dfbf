//! Who writes: the log, and the numbers that writes are given.
//!
//! A batch is in the log before any reader sees it, and nothing newer is written anywhere before a log that has ended is
//! durable. What a sync leaves in doubt poisons the store; an append that fails is taken back, and the next write tries again.
//! Specified in format-spec/store.md, A batch of writes.

use crate::db::promise::Promise;
use crate::db::recovery::Recovered;
use crate::db::version_set::VersionSet;
use crate::fingerprint::IdAssignment;
use crate::wal::Log;
use std::sync::Arc;

/// Full memtables that may wait for their flush; then writers wait too.
pub(crate) const MOST_SEALED: usize = 2;

/// What the writing process keeps between two writes.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    /// The log that writes are appended to, once there was one.
    pub(crate) log: Option<Arc<Log>>,
    /// Logs of earlier processes that were not made durable by this one yet: their numbers, and where their frames end.
    pub(crate) unsynced: Vec<(u64, u64)>,
    /// The number of the next log.
    pub(crate) next_log: u64,
    /// The sequence number of the next write.
    pub(crate) next_sequence: u64,
    /// That of the first write in the active memtable.
    pub(crate) active_first: u64,
    pub(crate) id_assignment: IdAssignment,
    /// Whether the manifest says so too.
    pub(crate) is_assignment_kept: bool,
    /// The next number for a record without an id.
    pub(crate) next_id: u64,
    /// Bytes of logs that the active memtable's writes took.
    pub(crate) log_bytes: u64,
}

impl Writer {
    /// Who goes on where the logs of earlier processes end, and the tree with the memtables that they hold.
    pub(crate) fn after(mut versions: VersionSet, recovered: Recovered) -> (VersionSet, Self) {
        let writer = Self {
            log: None,
            unsynced: recovered.logs,
            next_log: recovered.next_log,
            next_sequence: recovered.next_sequence,
            active_first: recovered.active_first,
            id_assignment: versions.manifest.id_assignment,
            is_assignment_kept: true,
            next_id: recovered.next_id,
            log_bytes: recovered.log_bytes,
        };
        versions.sealed.extend(recovered.sealed);
        versions.active = recovered.active;
        (versions, writer)
    }

    /// All that was written up to now, if any of it may not be durable.
    pub(crate) fn promise(&self) -> Option<Promise> {
        self.log.as_ref().map(|log| Promise { log: Arc::clone(log), end: log.end() })
    }
}
