//! Locks with a fixed order, against deadlocks.
//!
//! The locks of an open store that are held while other work is done have a [`Rank`]. A thread that holds one may wait
//! only for locks of a higher rank; debug builds check this. The other locks guard a value each, and a thread that
//! holds one takes none with a rank.

use super::locks::{Condvar, Mutex};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;
use std::thread;
use std::time::{Duration, Instant};

/// Tries for a lock between which a thread only yields the processor: most locks are released within these.
const YIELDS: usize = 7;
/// How long a thread sleeps between later tries.
const PAUSE: Duration = Duration::from_micros(100);

/// The locks with a rank, in the order in which a thread may take several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The position of a follower in the logs.
    Follower,
    /// Held while records without ids are removed.
    Counting,
    Writer,
    /// Held during flushes.
    Flushing,
    /// Held during compactions.
    Compacting,
    /// Held while a manifest is replaced.
    Installing,
    /// Held while obsolete runs are dropped.
    Collecting,
    Versions,
}

/// A mutex with a rank, without poison.
#[derive(Debug)]
pub(crate) struct RankedMutex<T> {
    rank: Rank,
    inner: Mutex<T>,
}

#[derive(Debug)]
pub(crate) struct RankedGuard<'a, T> {
    inner: MutexGuard<'a, T>,
    _held: Held,
}

impl<T> RankedMutex<T> {
    pub(crate) fn new(rank: Rank, value: T) -> Self {
        Self { rank, inner: Mutex::new(value) }
    }

    pub(crate) fn lock(&self) -> RankedGuard<'_, T> {
        let held = Held::in_order(self.rank);
        RankedGuard { inner: self.inner.lock(), _held: held }
    }

    /// Takes the lock if it is free, in any order of ranks.
    pub(crate) fn try_lock(&self) -> Option<RankedGuard<'_, T>> {
        let inner = self.inner.try_lock()?;
        Some(RankedGuard { inner, _held: Held::in_any_order(self.rank) })
    }

    /// Tries to take the lock, again and again for `most` at most. A release then costs no more than without waiting
    /// threads.
    pub(crate) fn lock_within(&self, most: Duration) -> Option<RankedGuard<'_, T>> {
        let held = Held::in_order(self.rank);
        let inner = self.inner.try_lock().or_else(|| self.try_for(most))?;
        Some(RankedGuard { inner, _held: held })
    }

    fn try_for(&self, most: Duration) -> Option<MutexGuard<'_, T>> {
        let started = Instant::now();
        for tries in 0.. {
            let left = most.saturating_sub(started.elapsed());
            if left.is_zero() {
                break;
            }
            match tries < YIELDS {
                true => thread::yield_now(),
                false => thread::sleep(left.min(PAUSE)),
            }
            if let Some(inner) = self.inner.try_lock() {
                return Some(inner);
            }
        }
        None
    }
}

impl<T> RankedGuard<'_, T> {
    /// Releases the lock until the condition is notified, for `most` at most, or less.
    pub(crate) fn wait(self, condition: &Condvar, most: Option<Duration>) -> Self {
        let Self { inner, _held } = self;
        let inner = match most {
            None => condition.wait(inner),
            Some(most) => condition.wait_for(inner, most),
        };
        Self { inner, _held }
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

thread_local! {
    /// The ranks of the locks that this thread holds; empty in release builds.
    static HELD: RefCell<Vec<Rank>> = const { RefCell::new(Vec::new()) };
}

/// Lets the thread that runs `work` inherit the locks that this thread holds while it waits for that one.
pub(super) fn inheriting<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let held = HELD.with_borrow(Clone::clone);
    move || {
        let own = HELD.replace(held);
        let result = work();
        HELD.set(own);
        result
    }
}

#[derive(Debug)]
struct Held(Rank);

impl Held {
    /// Checks the order before the thread waits for a lock.
    fn in_order(rank: Rank) -> Self {
        if cfg!(debug_assertions) {
            let highest = HELD.with_borrow(|held| held.iter().max().copied());
            assert!(highest.is_none_or(|highest| highest < rank), "{rank:?} is taken while {highest:?} is held");
        }
        Self::in_any_order(rank)
    }

    fn in_any_order(rank: Rank) -> Self {
        if cfg!(debug_assertions) {
            HELD.with_borrow_mut(|held| held.push(rank));
        }
        Self(rank)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            HELD.with_borrow_mut(|held| {
                held.iter().rposition(|rank| *rank == self.0).map(|last| held.remove(last));
            });
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
            assert_eq!(writer.try_lock().as_deref(), Some(&1));
            *writer.lock()
        };
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(down));
        assert_eq!(panicked.is_err(), cfg!(debug_assertions));
        // A released lock does not count.
        assert_eq!(up(), 2);
        // A thread that works for the holder of a lock takes none of a lower rank.
        let of_holder = |_: RankedGuard<'_, i32>| inheriting(|| *writer.lock());
        let worked = std::thread::scope(|scope| scope.spawn(of_holder(versions.lock())).join());
        assert_eq!(worked.is_err(), cfg!(debug_assertions));
    }

    #[test]
    fn a_thread_gives_up_or_gets_the_lock_after_its_release() {
        let writer = RankedMutex::new(Rank::Writer, 0);
        let held = writer.lock();
        thread::scope(|scope| {
            let waits = |most| {
                let writer = &writer;
                scope.spawn(move || writer.lock_within(most).map(|mut value| *value += 1))
            };
            for most in [Duration::ZERO, Duration::from_millis(5)] {
                assert!(waits(most).join().unwrap().is_none());
            }
            let waiting = waits(Duration::from_secs(3600));
            thread::sleep(Duration::from_millis(5));
            drop(held);
            assert!(waiting.join().unwrap().is_some());
        });
        assert_eq!(*writer.lock(), 1);
    }
}
