//! QueryStats that a store does while it holds a lock, on threads of its own.
//!
//! A thread of a pool that waits for its part of some work takes up other work of that pool meanwhile. Were it to hold a lock of
//! the store then, and that other work to want it, it would wait for itself. So whatever takes a lock has threads that do
//! nothing else, from its beginning to its end.

use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;

thread_local! {
    /// Whether this thread does nothing but one such work.
    static OURS: Cell<bool> = const { Cell::new(false) };
}

/// Does the work on threads that it has to itself, as many as the current pool has; on those at hand, if it is a part of such work.
///
/// # Errors
/// `Io` if no thread can be started; those of the work.
pub(crate) fn run<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    if OURS.get() {
        return work();
    }
    let pool = pool("fpstore work", rayon::current_num_threads())?;
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

/// So many threads for one work of this kind; their names begin with this one.
pub(crate) fn pool(name: &'static str, threads: usize) -> Result<ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(move |number| format!("{name} {number}"));
    builder.start_handler(|_| OURS.set(true)).build().map_err(Error::no_thread)
}
