//! Counts the first queries of an open store: what pays for many queries only begins after them.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// After so many queries more will follow: a program that asks a few does not wait for filters, or share its cores with
/// the threads that make them.
const FEW: u32 = 256;

#[derive(Default)]
pub(crate) struct FirstQueries {
    count: AtomicU32,
    then: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl FirstQueries {
    /// What to do once, after the first queries, on the thread of the last of them.
    pub(crate) fn then(&self, work: impl Fn() + Send + Sync + 'static) {
        let _ = self.then.set(Box::new(work));
    }

    /// Counts a query.
    #[inline]
    pub(crate) fn add_one(&self) {
        // Later queries write nothing that threads share.
        if self.count.load(Relaxed) < FEW && self.count.fetch_add(1, Relaxed) + 1 == FEW {
            self.then.get().into_iter().for_each(|work| work());
        }
    }
}

impl fmt::Debug for FirstQueries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstQueries").field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_work_is_done_once_and_not_early() {
        let (queries, done) = (FirstQueries::default(), Arc::new(AtomicU32::new(0)));
        let counter = Arc::clone(&done);
        queries.then(move || {
            counter.fetch_add(1, Relaxed);
        });
        (1..FEW).for_each(|_| queries.add_one());
        assert_eq!(done.load(Relaxed), 0);
        (0..3).for_each(|_| queries.add_one());
        assert_eq!(done.load(Relaxed), 1);
    }
}
