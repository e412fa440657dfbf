//! Making the next chunk while the caller works on this one.

use crate::error::Result;
use crate::executor::{Executor, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Result as Outcome;

/// Makes chunks, one after another, and then none.
type Make<T> = Box<dyn FnMut() -> Result<Option<T>> + Send>;

/// Holds the outcome when the reader thread has ended.
type Slot<T> = Arc<Mutex<Option<Outcome<(Make<T>, Result<Option<T>>)>>>>;

/// An iterator over chunks. There are two at most if the caller drops one before it asks for the next: the one that was
/// returned last, and the next one, which the reader threads of the executor begin as soon as the caller asks for the
/// one before. It ends with the first error.
pub(crate) struct Ahead<T> {
    executor: Arc<Executor>,
    state: State<T>,
}

enum State<T> {
    Begin(Make<T>),
    Working(Receiver<()>, Slot<T>),
    End,
}

impl<T: Send + 'static> Ahead<T> {
    pub(crate) fn new(executor: &Arc<Executor>, make: impl FnMut() -> Result<Option<T>> + Send + 'static) -> Self {
        Self { executor: Arc::clone(executor), state: State::Begin(Box::new(make)) }
    }

    fn begin(&self, mut make: Make<T>) -> Result<State<T>> {
        let (sender, receiver) = sync_channel(1);
        let slot = Slot::new(Mutex::new(None));
        let filled = Arc::clone(&slot);
        // The channel and the box have one type for all chunks: the compiler makes their code once.
        let work: Box<dyn FnOnce() + Send> = Box::new(move || {
            let made = catch_unwind(AssertUnwindSafe(|| {
                let chunk = make();
                (make, chunk)
            }));
            *filled.lock() = Some(made);
            drop(filled);
            // Fails if the iterator was dropped.
            let _ = sender.send(());
        });
        // The threads of the crew may all be waiting for a chunk.
        self.executor.readers()?.spawn(work);
        Ok(State::Working(receiver, slot))
    }

    fn step(&mut self) -> Result<Option<T>> {
        let state = match std::mem::replace(&mut self.state, State::End) {
            State::Begin(make) => self.begin(make)?,
            state => state,
        };
        let State::Working(receiver, slot) = state else { return Ok(None) };
        let _ = receiver.recv();
        let Some(made) = Arc::into_inner(slot).and_then(Mutex::into_inner) else { return Ok(None) };
        let (make, chunk) = made.unwrap_or_else(|panic| resume_unwind(panic));
        let chunk = chunk?;
        if chunk.is_some() {
            self.state = self.begin(make)?;
        }
        Ok(chunk)
    }
}

impl<T: Send + 'static> Iterator for Ahead<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

impl<T> Drop for Ahead<T> {
    /// Returns when the memory of the next chunk is free.
    fn drop(&mut self) {
        if let State::Working(receiver, _) = &self.state {
            let _ = receiver.recv();
        }
    }
}
