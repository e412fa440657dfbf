//! Counters of back-pressure.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(crate) struct Pressure {
    pub(crate) is_slow: AtomicBool,
    /// Number of runs of loads that are being installed, during which writers are slowed down too.
    pub(crate) entering: AtomicU64,
    pub(crate) slowed: AtomicU64,
    pub(crate) stopped: AtomicU64,
    /// Microseconds.
    pub(crate) stopped_time: AtomicU64,
}

/// Back-pressure on writers since the store was opened, and the backlog of compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WritePressure {
    /// Writes that were slowed down, by a millisecond each.
    pub slowed: u64,
    /// Writes that were stopped until a memtable was flushed.
    pub stopped: u64,
    /// Total time of these stops.
    pub stopped_time: Duration,
    /// Runs beyond the permitted number.
    pub runs_behind: u64,
    /// Bytes of the runs that are due for compaction.
    pub bytes_behind: u64,
}

impl Pressure {
    /// Slows writers down until the result is dropped.
    pub(crate) fn slow(&self) -> Slowed<'_> {
        self.entering.fetch_add(1, Ordering::Relaxed);
        Slowed(self)
    }

    pub(crate) fn stopped_since(&self, started: Instant) {
        self.stopped.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.stopped_time.fetch_add(micros, Ordering::Relaxed);
    }
}

pub(crate) struct Slowed<'a>(&'a Pressure);

impl Drop for Slowed<'_> {
    fn drop(&mut self) {
        self.0.entering.fetch_sub(1, Ordering::Relaxed);
    }
}
