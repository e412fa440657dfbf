//! Making the next chunk while the caller works on this one.

use crate::error::Result;
use crate::executor::Executor;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Result as Outcome;

/// Makes chunks, one after another, and then none.
type Make<T> = Box<dyn FnMut() -> Result<Option<T>> + Send>;

type Made<T> = (Make<T>, Result<Option<T>>);

/// An iterator over chunks. There are never more than two: the one that was returned last, and the next one, which a
/// reader thread of the executor begins as soon as the caller asks for the one before. It ends with the first error.
pub(crate) struct Ahead<T> {
    executor: Arc<Executor>,
    state: State<T>,
}

enum State<T> {
    Begin(Make<T>),
    Working(Receiver<Outcome<Made<T>>>),
    End,
}

impl<T: Send + 'static> Ahead<T> {
    pub(crate) fn new(executor: &Arc<Executor>, make: impl FnMut() -> Result<Option<T>> + Send + 'static) -> Self {
        Self { executor: Arc::clone(executor), state: State::Begin(Box::new(make)) }
    }

    fn begin(&self, mut make: Make<T>) -> Result<State<T>> {
        let (sender, receiver) = sync_channel(1);
        // The threads of the crew may all be waiting for a chunk.
        self.executor.readers()?.spawn(move || {
            let made = catch_unwind(AssertUnwindSafe(|| {
                let chunk = make();
                (make, chunk)
            }));
            // Fails if the iterator was dropped.
            let _ = sender.send(made);
        });
        Ok(State::Working(receiver))
    }

    fn step(&mut self) -> Result<Option<T>> {
        let state = match std::mem::replace(&mut self.state, State::End) {
            State::Begin(make) => self.begin(make)?,
            state => state,
        };
        let State::Working(receiver) = state else { return Ok(None) };
        let Ok(made) = receiver.recv() else { return Ok(None) };
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
        if let State::Working(receiver) = &self.state {
            let _ = receiver.recv();
        }
    }
}
