//! A mutex whose waiters may give up.

use super::locks::{Condvar, Mutex};
use super::rank::{Held, Rank};
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

/// A mutex with a rank, without poison, that a thread may wait for as long as it likes.
#[derive(Debug)]
pub(crate) struct TimedMutex<T> {
    rank: Rank,
    inner: Mutex<T>,
    released: Released,
}

/// Tells waiting threads when the mutex is released.
#[derive(Debug, Default)]
struct Released {
    /// Number of threads that wait in [`TimedMutex::lock_within`].
    waiting: Mutex<usize>,
    condition: Condvar,
}

#[derive(Debug)]
pub(crate) struct TimedGuard<'a, T> {
    inner: MutexGuard<'a, T>,
    /// Dropped after the guard.
    _tells: Tells<'a>,
    _held: Held,
}

#[derive(Debug)]
struct Tells<'a>(&'a Released);

impl Drop for Tells<'_> {
    fn drop(&mut self) {
        let waiting = *self.0.waiting.lock();
        // Notifying costs a system call.
        if waiting > 0 {
            self.0.condition.notify_one();
        }
    }
}

impl<T> TimedMutex<T> {
    pub(crate) fn new(rank: Rank, value: T) -> Self {
        Self { rank, inner: Mutex::new(value), released: Released::default() }
    }

    pub(crate) fn lock(&self) -> TimedGuard<'_, T> {
        let held = Held::in_order(self.rank);
        self.guard(self.inner.lock(), held)
    }

    /// Waits for the lock, for `most` at most.
    pub(crate) fn lock_within(&self, most: Duration) -> Option<TimedGuard<'_, T>> {
        let held = Held::in_order(self.rank);
        let inner = self.inner.try_lock().or_else(|| self.wait(most))?;
        Some(self.guard(inner, held))
    }

    fn guard<'a>(&'a self, inner: MutexGuard<'a, T>, held: Held) -> TimedGuard<'a, T> {
        TimedGuard { inner, _tells: Tells(&self.released), _held: held }
    }

    fn wait(&self, most: Duration) -> Option<MutexGuard<'_, T>> {
        let Some(end) = Instant::now().checked_add(most) else { return Some(self.inner.lock()) };
        let mut waiting = self.released.waiting.lock();
        *waiting += 1;
        // A release after this try notifies: it needs `waiting`, which is locked until this thread waits. A thread that
        // was notified tries once more even if its time is over: the notification would be lost.
        let inner = loop {
            if let Some(inner) = self.inner.try_lock() {
                break Some(inner);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break None;
            }
            waiting = self.released.condition.wait_for(waiting, left);
        };
        *waiting -= 1;
        inner
    }
}

impl<T> Deref for TimedGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for TimedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_thread_gives_up_or_is_woken_by_the_release() {
        let mutex = TimedMutex::new(Rank::Writer, 0);
        let held = mutex.lock();
        thread::scope(|scope| {
            let waits = |most| {
                let mutex = &mutex;
                scope.spawn(move || mutex.lock_within(most).map(|mut value| *value += 1))
            };
            for most in [Duration::ZERO, Duration::from_millis(5)] {
                assert!(waits(most).join().unwrap().is_none());
            }
            let wakes = [Duration::from_secs(3600), Duration::MAX].map(waits);
            while *mutex.released.waiting.lock() == 0 {
                thread::yield_now();
            }
            drop(held);
            assert!(wakes.into_iter().all(|woken| woken.join().unwrap().is_some()));
        });
        assert_eq!((*mutex.lock(), *mutex.released.waiting.lock()), (2, 0));
    }

    #[test]
    fn no_release_is_missed() {
        const TIMES: usize = 2_000;
        let mutex = TimedMutex::new(Rank::Writer, 0);
        thread::scope(|scope| {
            for most in [Duration::from_micros(20), Duration::from_secs(3600), Duration::from_secs(3600)] {
                let mutex = &mutex;
                scope.spawn(move || {
                    let mut times = 0;
                    while times < TIMES {
                        let Some(mut value) = mutex.lock_within(most) else { continue };
                        *value += 1;
                        times += 1;
                        if times % 8 == 0 {
                            thread::yield_now();
                        }
                    }
                });
            }
        });
        assert_eq!(*mutex.lock(), 3 * TIMES);
    }
}
