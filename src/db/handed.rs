//! Batches that were handed to the thread that writes.

use crate::db::promise::Promise;
use crate::db::write_batch::{Write, WriteSummary};
use crate::error::Result;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;

/// What a batch has done, and what has to be durable before its thread goes on.
pub(crate) type Done = Result<(WriteSummary, Option<Promise>)>;

/// Batches that were handed over, and where their threads wait.
#[derive(Debug)]
pub(crate) struct Handed {
    pub(crate) batches: Mutex<Vec<(Vec<Write>, SyncSender<Done>)>>,
    /// Whether there are some. Changes only under the lock.
    pub(crate) is_some: AtomicBool,
}

impl Default for Handed {
    fn default() -> Self {
        Self { batches: Mutex::default(), is_some: AtomicBool::new(false) }
    }
}
