//! How far a join is.

use crate::error::{Error, Result};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// How far a join is.
#[derive(Debug, Default)]
pub(crate) struct JoinProgress {
    done: AtomicU64,
    total: AtomicU64,
    stopped: AtomicBool,
}

impl JoinProgress {
    pub(crate) fn begin(&self, total: u64) {
        self.total.store(total, Relaxed);
    }

    /// Has the join end, with an error.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// An error if it was told to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.stopped.load(Relaxed) { Err(Error::stopped()) } else { Ok(()) }
    }

    pub(crate) fn advance(&self, done: u64) {
        self.done.fetch_add(done, Relaxed);
    }

    /// The share that is done, 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn share(&self) -> f64 {
        (self.done.load(Relaxed) as f64 / self.total.load(Relaxed).max(1) as f64).min(1.0)
    }
}
