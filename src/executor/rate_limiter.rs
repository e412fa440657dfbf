//! How fast work in the background goes on, and when it ends.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest pause: so soon it is noticed that the work is to end, or to unthrottle, in any case.
const LONGEST: Duration = Duration::from_millis(100);
/// Work that is done between two looks at the clock's worth of pause.
const SLICE: Duration = Duration::from_millis(2);

/// Has work that calls [`RateLimiter::step`] again and again rest in between, so that queries have the processor and the device
/// for most of the time, and has it end when the store is closed.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    stopped: AtomicBool,
    hurried: AtomicBool,
    /// When the work went on after the last pause.
    since: Mutex<Option<Instant>>,
    woken: Condvar,
    /// So many times as long as it has worked it rests.
    rest: u32,
}

impl RateLimiter {
    /// For work that rests `rest` times as long as it works.
    pub(crate) fn new(rest: u32) -> Self {
        Self {
            stopped: AtomicBool::new(false),
            hurried: AtomicBool::new(false),
            since: Mutex::new(None),
            woken: Condvar::new(),
            rest,
        }
    }

    /// Has the work end.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.woken.notify_all();
    }

    /// Whether it is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Has the work go on without rest, or with it again.
    pub(crate) fn unthrottle(&self, hurried: bool) {
        self.hurried.store(hurried, Ordering::Relaxed);
        self.woken.notify_all();
    }

    /// Rests, if enough was done since the last time.
    ///
    /// # Errors
    /// `Stopped` if the work is to end.
    pub(crate) fn step(&self) -> Result<()> {
        if self.is_stopped() {
            return Err(Error::stopped());
        }
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let worked = since.get_or_insert_with(Instant::now).elapsed();
        if worked < SLICE || self.rest == 0 {
            return Ok(());
        }
        if !self.hurried.load(Ordering::Relaxed) {
            let pause = (worked * self.rest).min(LONGEST);
            since = self.woken.wait_timeout(since, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        *since = Some(Instant::now());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_as_long_as_it_is_told_unless_in_a_hurry_and_ends_when_it_is_stopped() {
        let work = |limiter: &RateLimiter| {
            let started = Instant::now();
            let mut steps = 0u32;
            while started.elapsed() < Duration::from_millis(200) {
                limiter.step().unwrap();
                steps += 1;
            }
            steps
        };
        let (paced, hurried) = (RateLimiter::new(3), RateLimiter::new(3));
        hurried.unthrottle(true);
        // Whatever else the machine does: who never rests makes many more steps.
        assert!(work(&hurried) > work(&paced));
        paced.stop();
        assert_eq!(paced.step().unwrap_err().kind(), crate::error::ErrorKind::Stopped);
    }
}
