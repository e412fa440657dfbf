//! Throttling and stopping background compaction.

use super::locks::{Condvar, Mutex};
use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_millis(100);
const SLICE: Duration = Duration::from_millis(2);

/// Makes work that calls [`RateLimiter::step`] often sleep as long as it works, so that queries get the processor and
/// the device; ends the work when the store is closed.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter {
    stopped: AtomicBool,
    unthrottled: AtomicBool,
    /// Number of threads that wait for the end of the work.
    waiting: AtomicU64,
    since: Mutex<Option<Instant>>,
    woken: Condvar,
}

impl RateLimiter {
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.woken.notify_all();
    }

    /// Makes the work go on without sleeps, or with them again.
    pub(crate) fn unthrottle(&self, unthrottled: bool) {
        self.unthrottled.store(unthrottled, Ordering::Relaxed);
        self.woken.notify_all();
    }

    /// Makes the work go on without sleeps until the result is dropped.
    pub(crate) fn unthrottle_for_caller(&self) -> Unthrottled<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.woken.notify_all();
        Unthrottled(self)
    }

    /// Sleeps if a slice of work was done since the last sleep. Fails with `Stopped` after [`RateLimiter::stop`].
    pub(crate) fn step(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::stopped());
        }
        let mut since = self.since.lock();
        let worked = since.get_or_insert_with(Instant::now).elapsed();
        if worked >= SLICE {
            if !self.unthrottled.load(Ordering::Relaxed) && self.waiting.load(Ordering::Relaxed) == 0 {
                since = self.woken.wait_for(since, worked.min(LONGEST));
            }
            *since = Some(Instant::now());
        }
        Ok(())
    }
}

pub(crate) struct Unthrottled<'a>(&'a RateLimiter);

impl Drop for Unthrottled<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_as_long_as_it_works_unless_unthrottled_and_ends_when_stopped() {
        const WORK: Duration = Duration::from_millis(20);
        let limiter = RateLimiter::default();
        let step_after_work = || {
            std::thread::sleep(WORK);
            let started = Instant::now();
            limiter.step().unwrap();
            started.elapsed()
        };
        limiter.step().unwrap();
        assert!((0..5).all(|_| step_after_work() >= WORK));
        let callers = (limiter.unthrottle_for_caller(), limiter.unthrottle_for_caller());
        limiter.unthrottle(false);
        drop(callers.0);
        assert!((0..100).any(|_| step_after_work() < WORK));
        drop(callers.1);
        assert!(step_after_work() >= WORK);
        limiter.unthrottle(true);
        // On a busy machine, one step without a sleep may take long, but not all of them.
        assert!((0..100).any(|_| step_after_work() < WORK));
        limiter.stop();
        assert_eq!(limiter.step().unwrap_err().kind(), crate::error::ErrorKind::Stopped);
    }
}
