//! Making the next chunk while the caller works on this one.

use crate::error::Result;
use crate::executor::Executor;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Result as Outcome;

/// What makes chunks, one after another.
pub(crate) trait ReadAhead: Send + 'static {
    /// What is made.
    type Chunk: Send + 'static;

    /// The next chunk, if there is one.
    fn next_chunk(&mut self) -> Result<Option<Self::Chunk>>;

    /// Whose threads read ahead.
    fn executor(&self) -> &Arc<Executor>;
}

/// An iterator over the chunks of a source. There are never more than two: the one that was returned last, and the
/// next one, which is begun as soon as the one before is asked for. It ends with the first error.
#[derive(Debug)]
pub(crate) struct Ahead<S: ReadAhead>(State<S>);

#[derive(Debug)]
enum State<S: ReadAhead> {
    Begin(S),
    Working(Receiver<Outcome<Made<S>>>),
    End,
}

/// The source, and what it made.
type Made<S> = (S, Result<Option<<S as ReadAhead>::Chunk>>);

impl<S: ReadAhead> Ahead<S> {
    pub(crate) fn new(source: S) -> Self {
        Self(State::Begin(source))
    }

    fn begin(mut source: S) -> Result<State<S>> {
        let executor = Arc::clone(source.executor());
        let (sender, receiver) = sync_channel(1);
        // Those of the crew at hand may all be waiting for a chunk.
        executor.readers()?.spawn(move || {
            let made = catch_unwind(AssertUnwindSafe(|| {
                let chunk = source.next_chunk();
                (source, chunk)
            }));
            // Nobody waits for it if the iterator was dropped.
            let _ = sender.send(made);
        });
        Ok(State::Working(receiver))
    }

    fn step(&mut self) -> Result<Option<S::Chunk>> {
        let state = match std::mem::replace(&mut self.0, State::End) {
            State::Begin(source) => Self::begin(source)?,
            state => state,
        };
        let State::Working(receiver) = state else { return Ok(None) };
        let Ok(made) = receiver.recv() else { return Ok(None) };
        let (source, chunk) = made.unwrap_or_else(|panic| resume_unwind(panic));
        let chunk = chunk?;
        if chunk.is_some() {
            self.0 = Self::begin(source)?;
        }
        Ok(chunk)
    }
}

impl<S: ReadAhead> Iterator for Ahead<S> {
    type Item = Result<S::Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

impl<S: ReadAhead> Drop for Ahead<S> {
    fn drop(&mut self) {
        // Who drops the iterator has its memory back.
        if let State::Working(receiver) = &self.0 {
            let _ = receiver.recv();
        }
    }
}
