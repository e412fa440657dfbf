//! Counts of bytes and items in memory.

#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering};

/// A number of bytes or items in memory as a length.
pub(crate) fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

pub(crate) fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

/// In tests, the most bytes that were held at any time.
#[derive(Debug, Default)]
pub(crate) struct Peak(#[cfg(test)] AtomicU64);

impl Peak {
    #[cfg(test)]
    pub(crate) fn note(&self, bytes: u64) {
        self.0.fetch_max(bytes, Ordering::Relaxed);
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "as in tests")]
    pub(crate) fn note(&self, _bytes: u64) {}

    #[cfg(test)]
    pub(crate) fn most(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
