//! Tasks on several threads, with results in the order of the tasks.
//!
//! The results of tasks wait for those of the tasks before them, up to a number of results in all; a thread that is too
//! far ahead waits. So memory is bounded for any number of results, and their order does not depend on the number of
//! threads. The first task waits for the sink alone.

use crate::error::{Error, Result};
use crate::executor::{Condvar, Mutex};
use rayon::ThreadPool;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Results that may wait, for each thread and at least.
const WAITING: usize = 4;
const LEAST_WAITING: usize = 32;
/// Results that each of the first tasks, one a thread, may have waiting however many the others have.
const NEXT: usize = 2;
/// Tasks that a thread may be ahead.
const AHEAD: usize = 64;

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

/// Takes the results of a task.
#[derive(Debug)]
pub(crate) struct Output<T> {
    queues: Arc<Queues<T>>,
    task: usize,
}

impl<T> Output<T> {
    pub(crate) fn send(&self, result: T) -> Step {
        self.queues.push(self.task, result)
    }
}

impl<T> Drop for Output<T> {
    fn drop(&mut self) {
        self.queues.end(self.task, Ok(()));
    }
}

/// The tasks that have begun, and the results that wait.
#[derive(Debug)]
struct Queues<T> {
    state: Mutex<State<T>>,
    /// Notified when the first task has a result, and when a task or a thread has ended.
    ready: Condvar,
    /// Notified when there is room for results or a task.
    room: Condvar,
    threads: usize,
}

#[derive(Debug)]
struct State<T> {
    /// The first one has the results that are taken next.
    begun: VecDeque<Queue<T>>,
    /// Number of the first task.
    first: usize,
    waiting: usize,
    /// Threads that have not ended.
    working: usize,
    is_closed: bool,
}

#[derive(Debug)]
struct Queue<T> {
    results: VecDeque<T>,
    end: Option<Result<()>>,
}

impl<T> State<T> {
    /// The queue of a task, and its place behind the first one; `None` if no more results are wanted.
    fn queue(&mut self, task: usize) -> Option<(&mut Queue<T>, usize)> {
        let place = task.checked_sub(self.first).filter(|_| !self.is_closed)?;
        Some((self.begun.get_mut(place)?, place))
    }
}

impl<T> Queues<T> {
    fn new(threads: usize) -> Self {
        let state = State { begun: VecDeque::new(), first: 0, waiting: 0, working: threads, is_closed: false };
        Self { state: Mutex::new(state), ready: Condvar::new(), room: Condvar::new(), threads }
    }

    /// Number of results that may wait.
    fn most(&self) -> usize {
        (WAITING * self.threads).max(LEAST_WAITING)
    }

    /// Waits until the next task is not too far ahead, and opens its queue.
    fn begin<J>(self: &Arc<Self>, tasks: &Mutex<std::vec::IntoIter<J>>) -> Option<(J, Output<T>)> {
        let mut state = self.state.lock();
        while !state.is_closed && state.begun.len() > AHEAD * self.threads {
            state = self.room.wait(state);
        }
        if state.is_closed {
            return None;
        }
        let task = tasks.lock().next()?;
        let number = state.first + state.begun.len();
        state.begun.push_back(Queue { results: VecDeque::new(), end: None });
        Some((task, Output { queues: Arc::clone(self), task: number }))
    }

    fn push(&self, task: usize, result: T) -> Step {
        let mut state = self.state.lock();
        loop {
            let has_room = state.waiting < self.most();
            let Some((queue, place)) = state.queue(task) else { return Err(Stop::Enough) };
            if has_room || (place < self.threads && queue.results.len() < NEXT) {
                queue.results.push_back(result);
                state.waiting += 1;
                if place == 0 {
                    self.ready.notify_all();
                }
                return Ok(());
            }
            state = self.room.wait(state);
        }
    }

    /// Ends a task, unless it has ended.
    fn end(&self, task: usize, end: Result<()>) {
        if let Some((queue, _)) = self.state.lock().queue(task)
            && queue.end.is_none()
        {
            queue.end = Some(end);
            self.ready.notify_all();
        }
    }

    /// The next result in the order of the tasks; `None` after the last.
    fn next(&self) -> Result<Option<T>> {
        let mut state = self.state.lock();
        loop {
            if let Some(queue) = state.begun.front_mut() {
                if let Some(result) = queue.results.pop_front() {
                    let may_wait = queue.results.len() < NEXT;
                    state.waiting -= 1;
                    // As seldom as may be: threads that wake should find room for several results.
                    if may_wait || state.waiting == self.most() / 2 {
                        self.room.notify_all();
                    }
                    return Ok(Some(result));
                }
                if let Some(end) = queue.end.take() {
                    end?;
                    state.begun.pop_front();
                    state.first += 1;
                    self.room.notify_all();
                    continue;
                }
            } else if state.working == 0 {
                return Ok(None);
            }
            state = self.ready.wait(state);
        }
    }
}

/// Counts a thread, also if it panics.
struct Working<'a, T>(&'a Queues<T>);

impl<T> Drop for Working<'_, T> {
    fn drop(&mut self) {
        self.0.state.lock().working -= 1;
        self.0.ready.notify_all();
    }
}

/// Closes the queues, which ends the threads.
struct Closing<'a, T>(&'a Queues<T>);

impl<T> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        self.0.state.lock().is_closed = true;
        self.0.room.notify_all();
    }
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
    let (queues, tasks) = (Arc::new(Queues::new(threads)), Mutex::new(tasks.into_iter()));
    pool.in_place_scope(|scope| {
        for _ in 0..threads {
            let (queues, tasks, worker, work) = (&queues, &tasks, &worker, &work);
            scope.spawn(move |_| {
                let _working = Working(queues);
                let mut worker = worker();
                while let Some((task, output)) = queues.begin(tasks) {
                    match work(&mut worker, task, &output) {
                        Ok(()) => {}
                        Err(Stop::Enough) => break,
                        Err(Stop::Failed(error)) => {
                            queues.end(output.task, Err(error));
                            break;
                        }
                    }
                }
            });
        }
        let _closing = Closing(&queues);
        while let Some(result) = queues.next()? {
            if sink(result)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })
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
        assert!(stop_at > 1000 || begun.load(Ordering::Relaxed) <= stop_at + AHEAD * threads + 1);
        (seen, result)
    }

    #[test]
    fn a_thread_is_as_far_ahead_as_there_is_room() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let sent = AtomicUsize::new(0);
        let work = |(): &mut (), task: usize, output: &Output<usize>| {
            if task == 0 {
                let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
                while sent.load(Ordering::Relaxed) < LEAST_WAITING {
                    assert!(std::time::Instant::now() < deadline, "the other task waits already");
                    std::thread::yield_now();
                }
                return (0..100).try_for_each(|number| output.send(number));
            }
            (0..100).try_for_each(|number| {
                output.send(100 + number)?;
                sent.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
        };
        let mut seen = Vec::new();
        let mut sink = |one| {
            assert!(!seen.is_empty() || sent.load(Ordering::Relaxed) == LEAST_WAITING, "more than may wait");
            seen.push(one);
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(None, &pool, vec![0, 1], || (), work, &mut sink).unwrap();
        assert_eq!(seen, (0..200).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_of_a_task_reaches_the_caller() {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let work = |(): &mut (), task: usize, output: &Output<usize>| {
                assert!(task != 5, "task 5");
                output.send(task)
            };
            let mut sink = |_| Ok(ControlFlow::Continue(()));
            let run = || ordered(None, &pool, (0..10).collect(), || (), work, &mut sink);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        }
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
