//! How much memory what is found may take.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that threads take together. Full for ever once it was too small.
#[derive(Debug)]
pub(crate) struct AnswerBudget {
    bytes: u64,
    taken: AtomicU64,
}

impl AnswerBudget {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, taken: AtomicU64::new(0) }
    }

    /// Takes some; whether there were so many left.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        // Relaxed: that it is full is seen in the end, whatever the order.
        self.taken.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= self.bytes
    }

    /// Whether it was too small.
    pub(crate) fn is_full(&self) -> bool {
        self.taken.load(Ordering::Relaxed) > self.bytes
    }

    /// Whether one list may have so many bytes that is gone again soon.
    pub(crate) fn allows(&self, bytes: u64) -> bool {
        /// Each thread has such a list, beside what is kept.
        const SHARE: u64 = 4;
        bytes / SHARE <= self.bytes / (rayon::current_num_threads() as u64).max(1)
    }
}
