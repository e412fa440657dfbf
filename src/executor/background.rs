//! Threads that work as long as a store is open.

use super::crew::alone;
use crate::error::Result;
use rayon::ThreadPool;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

/// A thread that computes alone. Dropping it waits for its end.
#[derive(Debug)]
pub(crate) struct BackgroundThread {
    /// The lock makes it shareable; dropping alone looks at it.
    ended: Mutex<Receiver<()>>,
    // Its thread ends with it.
    _pool: ThreadPool,
}

impl BackgroundThread {
    /// Starts a thread. What it runs in parallel it does by itself, so that the other processors are free for queries. A panic
    /// ends it.
    ///
    /// # Errors
    /// `Io` if the system has no thread for it.
    pub(crate) fn start(name: &'static str, work: impl FnOnce() + Send + 'static) -> Result<Self> {
        let pool = alone(name)?;
        let (end, ended) = sync_channel(1);
        pool.spawn(move || {
            // The work tells of its panics itself; the end is told in any case.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            let _ = end.send(());
        });
        Ok(Self { ended: Mutex::new(ended), _pool: pool })
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        let _ = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner).recv();
    }
}
