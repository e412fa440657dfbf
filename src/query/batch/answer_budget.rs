//! The memory of a batch for what it finds.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that threads take together. Once exceeded, it stays exceeded.
#[derive(Debug)]
pub(crate) struct AnswerBudget {
    bytes: u64,
    taken: AtomicU64,
}

impl AnswerBudget {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, taken: AtomicU64::new(0) }
    }

    /// Takes bytes; whether the budget sufficed.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        // Relaxed: threads see an exceeded budget eventually, in any order.
        self.taken.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= self.bytes
    }

    pub(crate) fn is_full(&self) -> bool {
        self.taken.load(Ordering::Relaxed) > self.bytes
    }

    /// Whether a temporary list of a thread may have so many bytes.
    pub(crate) fn allows(&self, bytes: u64) -> bool {
        /// Each thread has such a list beside the results.
        const SHARE: u64 = 4;
        bytes / SHARE <= self.bytes / (rayon::current_num_threads() as u64).max(1)
    }
}
