//! Tasks on several threads, with results in the order of the tasks.
//!
//! Each task has a queue for its results, and the queues are read one after another. A queue is short, and only some
//! are open at a time; a thread that is too far ahead waits. So memory is bounded for any number of results, and their
//! order does not depend on the number of threads.

use crate::error::{Error, Result};
use crate::executor::Mutex;
use rayon::ThreadPool;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

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

/// The results of a task.
#[derive(Debug)]
pub(crate) struct Output<T> {
    results: Arc<Mutex<VecDeque<T>>>,
    /// Tells of each result, or of an error. Channels of one type for all results: the compiler makes their code once.
    ready: SyncSender<Result<()>>,
}

impl<T> Output<T> {
    pub(crate) fn send(&self, result: T) -> Step {
        self.results.lock().push_back(result);
        self.ready.send(Ok(())).map_err(|_| Stop::Enough)
    }
}

struct Tasks<J, T> {
    /// Locked while a thread waits to open the queue of its next task.
    waiting: Mutex<std::vec::IntoIter<J>>,
    /// The results of tasks whose queue the sink has not reached.
    begun: Mutex<VecDeque<Arc<Mutex<VecDeque<T>>>>>,
}

/// Runs tasks on up to `threads` threads of the pool, or on all, each with a `worker` of its own, and calls `sink` on
/// this thread with all results, until it breaks. The threads wait for each other and for `sink`, so no other work
/// should need the pool.
pub(crate) fn ordered<J: Send, W, T: Send>(
    threads: Option<usize>,
    pool: &ThreadPool,
    tasks: Vec<J>,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, J, &Output<T>) -> Step + Sync,
    sink: &mut dyn FnMut(T) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    let threads = threads.unwrap_or(usize::MAX).clamp(1, pool.current_num_threads()).min(tasks.len());
    let tasks = Tasks { waiting: Mutex::new(tasks.into_iter()), begun: Mutex::default() };
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
                            let _ = output.ready.send(Err(error));
                            break;
                        }
                    }
                }
            });
        }
        drop(open);
        // Returning early closes the queues, which ends the threads.
        for ready in opened {
            let results = tasks.begun.lock().pop_front().unwrap_or_default();
            for one in ready {
                one?;
                let result = results.lock().pop_front();
                if result.map_or(Ok(ControlFlow::Continue(())), &mut *sink)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// The next task and where its results go. Results are opened in the order of the tasks.
fn next<J, T>(tasks: &Tasks<J, T>, open: &SyncSender<Receiver<Result<()>>>) -> Option<(J, Output<T>)> {
    let mut waiting = tasks.waiting.lock();
    let task = waiting.next()?;
    let (ready, results_of_task) = sync_channel(WAITING);
    let results = Arc::default();
    tasks.begun.lock().push_back(Arc::clone(&results));
    open.send(results_of_task).ok()?;
    Some((task, Output { results, ready }))
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
        let result = ordered(None, &pool, (0..1000).collect(), || &begun, work, &mut sink);
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
