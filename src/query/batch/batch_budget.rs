//! The memory of a batch for pairs of queries and fingerprints, or for the lists that are made from them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that threads take together. Once exceeded, it stays exceeded.
#[derive(Debug)]
pub(crate) struct BatchBudget {
    bytes: u64,
    taken: AtomicU64,
}

impl BatchBudget {
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

    /// Takes more than there is.
    pub(crate) fn exceed(&self) {
        self.taken.fetch_max(self.bytes.saturating_add(1), Ordering::Relaxed);
    }

    /// Most bytes of a temporary list of one of this many threads. Each has one beside the results.
    pub(crate) fn list(&self, threads: usize) -> u64 {
        self.bytes / (threads as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_exceeded() {
        let budget = BatchBudget::new(100);
        assert!(budget.take(10) && !budget.is_full());
        for _ in 0..3 {
            budget.exceed();
            assert!(budget.is_full() && !budget.take(1));
        }
    }
}
