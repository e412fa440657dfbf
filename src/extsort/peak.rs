//! What tests know of the memory used.

#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes that were held at any time; nothing at all outside tests.
#[derive(Debug, Default)]
pub(crate) struct Peak(#[cfg(test)] AtomicU64);

impl Peak {
    /// Remembers a number of bytes if it is the highest so far.
    #[cfg(test)]
    pub(crate) fn note(&self, bytes: u64) {
        self.0.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Does nothing.
    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "as in tests")]
    pub(crate) fn note(&self, _bytes: u64) {}

    #[cfg(test)]
    pub(crate) fn most(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
