//! Locks that are taken in one order.
//!
//! Each lock of an open store has a [`Rank`]. A thread that has one and takes another takes one of a higher rank. So two threads
//! never wait for each other. Debug builds check it at every lock; release builds do nothing more than lock.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// The locks of an open store, in the order in which a thread may take several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// What a store that is open for reading knows of the logs.
    Follower,
    /// Held, where there are no ids, while records are removed.
    Counting,
    /// The state of the writer.
    Writer,
    /// Held while memtables are moved to segments.
    Flushing,
    /// Held while segments are merged.
    Compacting,
    /// Held while a manifest is written.
    Installing,
    /// The version set.
    Versions,
    /// Held while obsolete runs are let go of.
    Collecting,
    /// The obsolete runs.
    Obsolete,
}

/// A lock with a rank. A panic of its holder does not poison it: nothing that these locks protect is left half changed.
#[derive(Debug)]
pub(crate) struct RankedMutex<T> {
    rank: Rank,
    inner: Mutex<T>,
}

/// The right to what a lock protects.
#[derive(Debug)]
pub(crate) struct RankedGuard<'a, T> {
    inner: MutexGuard<'a, T>,
    _held: held::Held,
}

impl<T> RankedMutex<T> {
    pub(crate) fn new(rank: Rank, value: T) -> Self {
        Self { rank, inner: Mutex::new(value) }
    }

    /// Waits for the lock.
    pub(crate) fn lock(&self) -> RankedGuard<'_, T> {
        let held = held::Held::in_order(self.rank);
        RankedGuard { inner: self.inner.lock(), _held: held }
    }

    /// Takes the lock if it is free.
    pub(crate) fn try_lock(&self) -> Option<RankedGuard<'_, T>> {
        let inner = self.inner.try_lock()?;
        Some(RankedGuard { inner, _held: held::Held::in_any_order(self.rank) })
    }

    /// Waits for the lock, but no longer than this.
    pub(crate) fn try_lock_for(&self, most: Duration) -> Option<RankedGuard<'_, T>> {
        let held = held::Held::in_order(self.rank);
        Some(RankedGuard { inner: self.inner.try_lock_for(most)?, _held: held })
    }
}

impl<T> RankedGuard<'_, T> {
    /// Releases the lock until the condition is told of, or for so long.
    pub(crate) fn wait(&mut self, condition: &Condvar, most: Option<Duration>) {
        match most {
            None => condition.wait(&mut self.inner),
            Some(most) => _ = condition.wait_for(&mut self.inner, most),
        }
    }
}

impl<T> Deref for RankedGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for RankedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

#[cfg(debug_assertions)]
mod held {
    use super::Rank;
    use std::cell::RefCell;

    thread_local! {
        static HELD: RefCell<Vec<Rank>> = const { RefCell::new(Vec::new()) };
    }

    /// A rank that this thread holds.
    #[derive(Debug)]
    pub(super) struct Held(Rank);

    impl Held {
        /// The thread is about to wait for a lock.
        pub(super) fn in_order(rank: Rank) -> Self {
            let highest = HELD.with_borrow(|held| held.iter().max().copied());
            assert!(highest.is_none_or(|highest| highest < rank), "{rank:?} is taken while {highest:?} is held");
            Self::in_any_order(rank)
        }

        /// The thread has a lock that it did not wait for.
        pub(super) fn in_any_order(rank: Rank) -> Self {
            HELD.with_borrow_mut(|held| held.push(rank));
            Self(rank)
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            HELD.with_borrow_mut(|held| {
                if let Some(last) = held.iter().rposition(|rank| *rank == self.0) {
                    held.remove(last);
                }
            });
        }
    }
}

#[cfg(not(debug_assertions))]
mod held {
    use super::Rank;

    #[derive(Debug)]
    pub(super) struct Held;

    impl Held {
        pub(super) fn in_order(_: Rank) -> Self {
            Self
        }

        pub(super) fn in_any_order(_: Rank) -> Self {
            Self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_taken_upwards_only() {
        let (writer, versions) = (RankedMutex::new(Rank::Writer, 1), RankedMutex::new(Rank::Versions, 2));
        let sum = *writer.lock() + *versions.lock();
        assert_eq!(sum, 3);
        let up = || {
            let _first = writer.lock();
            *versions.lock()
        };
        assert_eq!(up(), 2);
        let down = || {
            let _first = versions.lock();
            // What does not wait may be tried in any order.
            assert_eq!(writer.try_lock().as_deref(), Some(&1));
            *writer.lock()
        };
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(down));
        assert_eq!(panicked.is_err(), cfg!(debug_assertions));
        // The order is that of the locks that are held now.
        assert_eq!(up(), 2);
    }
}
