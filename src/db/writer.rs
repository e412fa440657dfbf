//! The state of the writing process: the log, and the numbers of the next writes.

use crate::db::write_batch::{Write, WriteSummary};
use crate::error::Result;
use crate::executor::Mutex;
use crate::fingerprint::IdAssignment;
use crate::wal::{Log, Promise};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// Most sealed memtables; then writers wait for a flush.
pub(crate) const MOST_SEALED: usize = 2;

/// The result of a batch, and the frames that have to be durable before its thread continues.
pub(crate) type Done = Result<(WriteSummary, Option<Promise>)>;

/// Batches that waiting threads have handed to the thread with the writer lock.
pub(crate) type Handed = Mutex<Vec<(Vec<Write>, SyncSender<Done>)>>;

/// The state that the writer lock protects.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) log: Option<Arc<Log>>,
    /// Logs of earlier processes that this one has not made durable yet: their numbers and the ends of their frames.
    pub(crate) unsynced: Vec<(u64, u64)>,
    pub(crate) next_log: u64,
    pub(crate) next_sequence: u64,
    /// The sequence number of the first write in the active memtable.
    pub(crate) active_first: u64,
    pub(crate) id_assignment: IdAssignment,
    /// Whether the manifest has this id assignment too. If not, it is that of the running loads.
    pub(crate) is_assignment_kept: bool,
    /// Number of running loads.
    pub(crate) loads: usize,
    /// The next number for a record without an id.
    pub(crate) next_id: u64,
    /// Bytes of the active memtable's writes in logs.
    pub(crate) log_bytes: u64,
}

impl Writer {
    pub(crate) fn promise(&self) -> Option<Promise> {
        self.log.as_ref().map(|log| Promise { log: Arc::clone(log), end: log.end() })
    }
}

pub(crate) type Refused = (&'static str, &'static str);

pub(crate) fn check_id_assignment(has: IdAssignment, wanted: IdAssignment) -> std::result::Result<(), Refused> {
    match (has, wanted) {
        (IdAssignment::Undecided, _) => Ok(()),
        (has, wanted) if has == wanted => Ok(()),
        (_, IdAssignment::Explicit) => {
            Err(("numbers its records itself, the input has ids", "load the input without ids"))
        }
        _ => Err(("has ids that its user gave, the input has none", "give every record an id")),
    }
}
