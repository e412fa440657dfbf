//! Work that a store does while it holds a lock, on threads of its own.
//!
//! A thread of a pool that waits for its part of some work takes up other work of that pool meanwhile. Were it to hold a lock of
//! the store then, and that other work to want it, it would wait for itself. So nothing is done under a lock on threads that
//! may have work of somebody else.

use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::sync::OnceLock;

thread_local! {
    /// Whether this thread does nothing but such work.
    static OURS: Cell<bool> = const { Cell::new(false) };
}

/// The threads of one store, which are there once they were needed.
#[derive(Debug, Default)]
pub(super) struct Apart(OnceLock<ThreadPool>);

impl Apart {
    /// Does the work on them, as many as the current pool has, unless this is one of them.
    ///
    /// # Errors
    /// `Io` if no thread can be started; those of the work.
    pub(super) fn run<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        if OURS.get() {
            return work();
        }
        let pool = match self.0.get() {
            Some(pool) => pool,
            None => {
                let made = pool(rayon::current_num_threads())?;
                // Somebody else may have been faster.
                self.0.get_or_init(|| made)
            }
        };
        if rayon::current_thread_index().is_none() {
            return pool.install(work);
        }
        // A thread of another pool would take up other work while it waits; one that it starts only waits.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, || pool.install(work));
            let done = thread.map_err(Error::no_thread)?.join();
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// So many threads for work of this kind.
pub(super) fn pool(threads: usize) -> Result<ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|number| format!("fpstore {number}"));
    builder.start_handler(|_| OURS.set(true)).build().map_err(Error::no_thread)
}
