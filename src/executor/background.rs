//! Threads that run as long as a store is open.

use super::crew::alone;
use super::locks::Mutex;
use super::operation::Operation;
use crate::error::Result;
use rayon::ThreadPool;
use std::sync::mpsc::{Receiver, sync_channel};

/// A thread that runs its parallel work by itself, so that the other processors are free for queries. Dropping it waits
/// for its end.
#[derive(Debug)]
pub(crate) struct BackgroundThread {
    /// The mutex makes the receiver `Sync`.
    ended: Mutex<Receiver<()>>,
    _pool: ThreadPool,
}

impl BackgroundThread {
    /// `work` must not panic.
    pub(crate) fn start(name: &'static str, work: impl FnOnce() + Send + 'static) -> Result<Self> {
        let pool = alone(name)?;
        let (end, ended) = sync_channel(1);
        pool.spawn(move || {
            Operation::background().run(work);
            let _ = end.send(());
        });
        Ok(Self { ended: Mutex::new(ended), _pool: pool })
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        let _ = self.ended.get_mut().recv();
    }
}
