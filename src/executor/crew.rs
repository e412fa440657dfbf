//! Thread pools that each run one operation at a time.

use super::locks::Mutex;
use super::operation::OfCrew;
use super::rank::inheriting;
use super::spawn::spawn_scoped;
use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::ops::Deref;
use std::sync::OnceLock;

/// Idle crews that are kept. The allocator keeps some memory for every thread of a crew.
const MOST_IDLE: usize = 1;

#[derive(Debug)]
pub(crate) struct Executor {
    threads: usize,
    idle: Mutex<Vec<Threads>>,
    readers: OnceLock<ThreadPool>,
}

#[derive(Debug)]
struct Threads {
    pool: ThreadPool,
    shared: OfCrew,
}

/// Starts a crew whose threads have names that begin with `name`.
fn start(name: &'static str, threads: usize, is_exclusive: bool) -> Result<Threads> {
    let shared = OfCrew::default();
    shared.set_exclusive(is_exclusive);
    let joined = shared.clone();
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    let builder = builder.thread_name(move |number| match threads {
        1 => name.to_owned(),
        _ => format!("{name} {number}"),
    });
    let builder = builder.start_handler(move |_| joined.clone().join());
    Ok(Threads { pool: builder.build().map_err(Error::no_thread)?, shared })
}

pub(super) fn alone(name: &'static str) -> Result<ThreadPool> {
    start(name, 1, true).map(|threads| threads.pool)
}

impl Default for Executor {
    /// As many threads as the process has processors available.
    fn default() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, NonZero::get))
    }
}

impl Executor {
    /// Threads are started when an operation first needs them.
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads: threads.max(1), idle: Mutex::default(), readers: OnceLock::new() }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Runs an operation on a crew; within an operation, on the current crew.
    pub(crate) fn run<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        match OfCrew::is_exclusive() {
            Some(_) => work(),
            None => self.run_on_crew(false, work),
        }
    }

    /// Runs an operation that takes locks of the store. It gets a crew of its own even if a callback of the caller
    /// starts it within an operation that is not exclusive.
    pub(crate) fn run_exclusive<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        match OfCrew::is_exclusive() {
            Some(true) => work(),
            _ => self.run_on_crew(true, work),
        }
    }

    fn run_on_crew<R: Send>(&self, is_exclusive: bool, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        let crew = self.crew()?;
        crew.set_exclusive(is_exclusive);
        let work = inheriting(work);
        if rayon::current_thread_index().is_none() {
            return crew.install(work);
        }
        // A waiting thread of another pool would take other work of that pool; a new thread only waits.
        std::thread::scope(|scope| {
            let waiting = spawn_scoped(scope, "fpstore caller", || crew.install(work))?;
            waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Takes an idle crew, or starts one.
    pub(crate) fn crew(&self) -> Result<Crew<'_>> {
        let idle = self.idle.lock().pop();
        let threads = idle.map_or_else(|| start("fpstore work", self.threads, false), Ok)?;
        threads.shared.begin();
        Ok(Crew { executor: self, threads: Some(threads) })
    }

    /// Threads that read temporary files ahead and merge what they read. They wait for files and for parts of merges
    /// only, and hold no locks then; while one waits, it may make a chunk of another iterator.
    pub(crate) fn readers(&self) -> Result<&ThreadPool> {
        if let Some(readers) = self.readers.get() {
            return Ok(readers);
        }
        let name = |number| format!("fpstore reads {number}");
        let built = ThreadPoolBuilder::new().num_threads(self.threads).thread_name(name).build();
        let built = built.map_err(Error::no_thread)?;
        Ok(self.readers.get_or_init(|| built))
    }
}

/// A crew in use. Dropping it makes the crew idle.
#[derive(Debug)]
pub(crate) struct Crew<'a> {
    executor: &'a Executor,
    /// `None` while it is dropped.
    threads: Option<Threads>,
}

impl Crew<'_> {
    /// Runs `work` on a thread of the crew.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let (mut work, mut result) = (Some(work), None);
        // One type for all closures: rayon would be compiled for each.
        let run: &mut (dyn FnMut() + Send) = &mut || result = work.take().map(|work| work());
        ThreadPool::install(self, run);
        #[expect(clippy::expect_used, reason = "the pool has run the work, or passed on its panic")]
        result.expect("work is run once")
    }

    fn set_exclusive(&self, is_exclusive: bool) {
        if let Some(threads) = &self.threads {
            threads.shared.set_exclusive(is_exclusive);
        }
    }
}

impl Deref for Crew<'_> {
    type Target = ThreadPool;

    #[expect(clippy::expect_used, reason = "only dropping takes the threads")]
    fn deref(&self) -> &ThreadPool {
        &self.threads.as_ref().expect("a crew has threads until it is dropped").pool
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        self.set_exclusive(false);
        if let Some(threads) = &self.threads {
            threads.shared.end();
        }
        let mut idle = self.executor.idle.lock();
        if idle.len() < MOST_IDLE {
            idle.extend(self.threads.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Barrier;
    use std::thread::{ThreadId, current};

    fn threads_of(executor: &Executor) -> BTreeSet<String> {
        let barrier = Barrier::new(executor.threads());
        let name = || {
            barrier.wait();
            current().name().unwrap_or_default().to_owned()
        };
        executor.run(|| Ok(rayon::broadcast(|_| name()).into_iter().collect())).unwrap()
    }

    #[test]
    fn a_crew_has_named_threads_and_is_used_again() {
        let executor = Executor::new(3);
        let expected: BTreeSet<String> = (0..3).map(|number| format!("fpstore work {number}")).collect();
        assert_eq!(threads_of(&executor), expected);
        let ids = || -> BTreeSet<String> {
            let id = || -> Vec<ThreadId> { rayon::broadcast(|_| current().id()) };
            executor.run(|| Ok(id())).unwrap().into_iter().map(|id| format!("{id:?}")).collect()
        };
        assert_eq!(ids(), ids());
    }

    #[test]
    fn a_part_of_an_operation_is_done_by_its_crew() {
        let executor = Executor::new(2);
        let index = || Ok(rayon::current_thread_index());
        let same = executor.run(|| Ok((index()?, executor.run(index)?))).unwrap();
        assert_eq!(same.0, same.1);
        let same =
            executor.run_exclusive(|| Ok((current().id(), executor.run_exclusive(|| Ok(current().id()))?))).unwrap();
        assert_eq!(same.0, same.1);
        // An exclusive operation shares no threads with one that is not.
        let own = executor.run(|| Ok((current().id(), executor.run_exclusive(|| Ok(current().id()))?))).unwrap();
        assert_ne!(own.0, own.1);
    }

    #[test]
    fn threads_of_another_pool_wait_without_taking_up_its_work() {
        let executor = Executor::new(2);
        let lock = Mutex::new(());
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        // Each holds the lock while its crew works; a thread that took another of these would deadlock.
        pool.install(|| {
            (0..64).into_par_iter().for_each(|_| {
                let held = lock.lock();
                let sum: u64 = executor.run_exclusive(|| Ok((0..10_000u64).into_par_iter().sum())).unwrap();
                assert_eq!(sum, 49_995_000);
                drop(held);
            });
        });
    }
}
