//! The pace of background compaction, and its end.

use crate::error::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest sleep.
const LONGEST: Duration = Duration::from_millis(100);
/// Work between two sleeps.
const SLICE: Duration = Duration::from_millis(2);

/// Makes work that calls [`RateLimiter::step`] often sleep as long as it works, so that queries get the processor and the
/// device; ends the work when the store is closed.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter {
    stopped: AtomicBool,
    unthrottled: AtomicBool,
    /// The end of the last sleep.
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

    /// Sleeps if a slice of work was done since the last sleep. Fails with `Stopped` after [`RateLimiter::stop`].
    pub(crate) fn step(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::stopped());
        }
        let mut since = self.since.lock();
        let worked = since.get_or_insert_with(Instant::now).elapsed();
        if worked >= SLICE {
            if !self.unthrottled.load(Ordering::Relaxed) {
                self.woken.wait_for(&mut since, worked.min(LONGEST));
            }
            *since = Some(Instant::now());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_unless_unthrottled_and_ends_when_stopped() {
        let work = |limiter: &RateLimiter| {
            let started = Instant::now();
            let mut steps = 0u32;
            while started.elapsed() < Duration::from_millis(200) {
                limiter.step().unwrap();
                steps += 1;
            }
            steps
        };
        let (paced, unthrottled) = (RateLimiter::default(), RateLimiter::default());
        unthrottled.unthrottle(true);
        // Work that never sleeps makes more steps, whatever the load of the machine.
        assert!(work(&unthrottled) > work(&paced));
        paced.stop();
        assert_eq!(paced.step().unwrap_err().kind(), crate::error::ErrorKind::Stopped);
    }
}
