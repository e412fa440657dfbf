//! Tasks on several threads, with results in the order of the tasks.
//!
//! Each task has a queue for its results, and the queues are read one after another. A queue is short, and only some
//! are open at a time; a thread that is too far ahead waits. So memory is bounded for any number of results, and their
//! order does not depend on the number of threads.

use crate::error::{Error, Result};
use rayon::ThreadPool;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

const WAITING: usize = 2;
/// Tasks that a thread may be ahead.
const AHEAD: usize = 8;

/// Whether the work goes on.
pub(crate) type Step = std::result::Result<(), Stop>;

/// The reason why work ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The sink wants no more results.
    Enough,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

#[derive(Debug)]
pub(crate) struct Output<T>(SyncSender<Result<T>>);

impl<T> Output<T> {
    pub(crate) fn send(&self, result: T) -> Step {
        self.0.send(Ok(result)).map_err(|_| Stop::Enough)
    }
}

/// [`ordered_by`] on all threads of the pool.
pub(crate) fn ordered<J: Send, W, T: Send>(
    pool: &ThreadPool,
    tasks: Vec<J>,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, J, &Output<T>) -> Step + Sync,
    sink: &mut dyn FnMut(T) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    ordered_by(pool.current_num_threads(), pool, tasks, worker, work, sink)
}

/// Runs tasks on up to `threads` threads of the pool, each with a `worker` of its own, and calls `sink` on this thread
/// with all results, until it breaks. The threads wait for each other and for `sink`, so no other work should need the
/// pool.
pub(super) fn ordered_by<J: Send, W, T: Send>(
    threads: usize,
    pool: &ThreadPool,
    tasks: Vec<J>,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, J, &Output<T>) -> Step + Sync,
    sink: &mut dyn FnMut(T) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    let threads = threads.clamp(1, pool.current_num_threads()).min(tasks.len());
    let tasks = Mutex::new(tasks.into_iter());
    let (open, opened) = sync_channel(threads * AHEAD);
    pool.in_place_scope(|scope| {
        for _ in 0..threads {
            let (open, tasks, worker, work) = (open.clone(), &tasks, &worker, &work);
            scope.spawn(move |_| {
                let mut worker = worker();
                while let Some((task, output)) = next(tasks, &open) {
                    match work(&mut worker, task, &output) {
                        Ok(()) => {}
                        Err(Stop::Enough) => break,
                        Err(Stop::Failed(error)) => {
                            let _ = output.0.send(Err(error));
                            break;
                        }
                    }
                }
            });
        }
        drop(open);
        // Returning early closes the queues, which ends the threads.
        for result in opened.into_iter().flatten() {
            if sink(result?)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// The next task and the queue for its results. Queues are opened in the order of the tasks.
fn next<J, T>(tasks: &Mutex<std::vec::IntoIter<J>>, open: &SyncSender<Receiver<Result<T>>>) -> Option<(J, Output<T>)> {
    let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
    let task = tasks.next()?;
    let (sender, results) = sync_channel(WAITING);
    open.send(results).ok()?;
    Some((task, Output(sender)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn run(threads: usize, stop_at: usize) -> (Vec<usize>, Result<ControlFlow<()>>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (mut seen, begun) = (Vec::new(), AtomicUsize::new(0));
        let work = |begun: &mut &AtomicUsize, task: usize, output: &Output<usize>| {
            begun.fetch_add(1, Ordering::Relaxed);
            if task == 900 {
                return Err(Stop::Failed(Error::invalid("task 900")));
            }
            (0..task % 17).try_for_each(|number| output.send(100 * task + number))
        };
        let mut sink = |one: usize| {
            seen.push(one);
            Ok(if seen.len() == stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let result = ordered(&pool, (0..1000).collect(), || &begun, work, &mut sink);
        // Threads that are ahead wait.
        assert!(stop_at > 1000 || begun.load(Ordering::Relaxed) < stop_at + 2 * AHEAD * threads);
        (seen, result)
    }

    #[test]
    fn in_the_order_of_the_tasks_until_enough_or_an_error() {
        let all: Vec<usize> = (0..900).flat_map(|task| (0..task % 17).map(move |number| 100 * task + number)).collect();
        for threads in [1, 2, 8] {
            let (seen, result) = run(threads, usize::MAX);
            assert_eq!((seen, result.unwrap_err().to_string()), (all.clone(), "task 900".to_owned()));
            let (seen, result) = run(threads, 100);
            assert_eq!(seen, all[..100]);
            assert_eq!(result.unwrap(), ControlFlow::Break(()));
        }
    }
}
