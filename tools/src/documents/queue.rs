//! Queue of documents between the reading thread and the working threads.
//!
//! The worker takes all documents that are available and does not wait for more; the reader waits while the queue is
//! full. So batches are small if reading is slow and large if it is fast, documents of a pipe are processed as they
//! arrive, and no more memory is held than the limit allows. A document larger than the limit passes alone.

use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::anyhow;

use crate::interrupt::{self, Interrupted};

/// Most documents in a batch: enough for many threads, and few enough results to hold.
const MOST: usize = 2048;

/// Longest delay until a stop request of the user is noticed.
const NOTICE: Duration = Duration::from_millis(100);

/// State shared by both sides.
#[derive(Debug)]
struct Queue<T> {
    limit: u64,
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    items: Vec<T>,
    /// Total cost of the queued items.
    cost: u64,
    /// How reading has ended.
    end: Option<anyhow::Result<()>>,
    /// Whether the taker is gone.
    closed: bool,
}

/// The reader's side. If it is dropped without [`Filler::end`], the worker's side gets an error.
#[derive(Debug)]
pub(super) struct Filler<T>(Arc<Queue<T>>);

/// The worker's side.
#[derive(Debug)]
pub(super) struct Taker<T>(Arc<Queue<T>>);

/// The available items, and the end or an error after them; `None` if more items follow.
#[derive(Debug)]
pub(super) struct Batch<T> {
    pub(super) items: Vec<T>,
    pub(super) end: Option<anyhow::Result<()>>,
}

/// Returns a queue of items that cost at most `limit` together.
pub(super) fn queue<T>(limit: u64) -> (Filler<T>, Taker<T>) {
    let state = Mutex::new(State { items: Vec::new(), cost: 0, end: None, closed: false });
    let queue = Arc::new(Queue { limit, state, changed: Condvar::new() });
    (Filler(Arc::clone(&queue)), Taker(queue))
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Filler<T> {
    /// Adds an item as soon as there is space; `false` if the taker is gone.
    #[must_use]
    pub(super) fn push(&self, item: T, cost: u64) -> bool {
        let Queue { limit, changed, .. } = &*self.0;
        let full = |state: &mut State<T>| {
            let fits = state.cost.saturating_add(cost) <= *limit && state.items.len() < MOST;
            !state.closed && !state.items.is_empty() && !fits
        };
        let mut state = changed.wait_while(self.0.lock(), full).unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return false;
        }
        state.items.push(item);
        state.cost = state.cost.saturating_add(cost);
        changed.notify_one();
        true
    }

    /// Reports how reading has ended.
    pub(super) fn end(self, end: anyhow::Result<()>) {
        self.0.lock().end = Some(end);
    }
}

impl<T> Drop for Filler<T> {
    fn drop(&mut self) {
        self.0.lock().end.get_or_insert_with(|| Err(anyhow!("the reading thread has ended early")));
        self.0.changed.notify_one();
    }
}

impl<T> Taker<T> {
    /// Takes the available items, as soon as there are any.
    pub(super) fn take(&self) -> Result<Batch<T>, Interrupted> {
        let nothing = |state: &mut State<T>| state.items.is_empty() && state.end.is_none();
        loop {
            interrupt::check()?;
            let waited = self.0.changed.wait_timeout_while(self.0.lock(), NOTICE, nothing);
            let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if !timeout.timed_out() {
                state.cost = 0;
                let batch = Batch { items: mem::take(&mut state.items), end: state.end.take() };
                self.0.changed.notify_one();
                return Ok(batch);
            }
        }
    }
}

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.closed = true;
        state.items.clear();
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn batches_are_bounded_and_in_order() {
        // Three items are larger than the limit of the queue.
        let costs: Vec<u64> = (0..50_000).map(|i| if i % 20_000 == 9_000 { 5000 } else { i % 17 }).collect();
        let (filler, taker) = queue(1000);
        let pushed = costs.clone();
        thread::spawn(move || {
            assert!(pushed.into_iter().all(|cost| filler.push(cost, cost)));
            filler.end(Err(anyhow!("that was all")));
        });
        let mut taken = Vec::new();
        let end = loop {
            let Batch { items, end } = taker.take().unwrap();
            assert!(items.len() <= MOST && (items.iter().sum::<u64>() <= 1000 || items == [5000]), "{items:?}");
            taken.extend(items);
            if let Some(end) = end {
                break end;
            }
        };
        assert_eq!(end.unwrap_err().to_string(), "that was all");
        assert_eq!(taken, costs);
    }

    #[test]
    fn a_batch_has_at_most_so_many() {
        let (filler, taker) = queue(u64::MAX);
        thread::spawn(move || {
            assert!((0..3 * MOST).all(|item| filler.push(item, u64::MAX / 2)));
            filler.end(Ok(()));
        });
        let mut taken = Vec::new();
        loop {
            let Batch { items, end } = taker.take().unwrap();
            assert!(items.len() <= MOST);
            taken.extend(items);
            if let Some(end) = end {
                break end.unwrap();
            }
        }
        assert!(taken.into_iter().eq(0..3 * MOST));
    }

    #[test]
    fn one_side_notices_that_the_other_is_gone() {
        let (filler, taker) = queue(10);
        assert!(filler.push(1, 1));
        drop(filler);
        let Batch { items, end } = taker.take().unwrap();
        assert_eq!(items, [1]);
        assert_eq!(end.unwrap().unwrap_err().to_string(), "the reading thread has ended early");

        let (filler, taker) = queue(10);
        assert!(filler.push(1, 10));
        let waiting = thread::spawn(move || filler.push(2, 10));
        drop(taker);
        assert!(!waiting.join().unwrap());
    }
}
