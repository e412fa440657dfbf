//! Making the next chunk while the caller works on this one.

use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Result as Outcome;

/// What makes chunks, one after another.
pub(crate) trait ReadAhead: Send + 'static {
    /// What is made.
    type Chunk: Send + 'static;

    /// The next chunk, if there is one.
    fn next_chunk(&mut self) -> Result<Option<Self::Chunk>>;

    /// The directory of the temporary file, for messages.
    fn directory(&self) -> &Path;
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
        let pool = pool(source.directory())?;
        let (sender, receiver) = sync_channel(1);
        pool.spawn(move || {
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

/// Threads that only make chunks. The common ones may all be waiting for a chunk, which then nobody would make.
fn pool(directory: &Path) -> Result<&'static ThreadPool> {
    static POOL: OnceLock<ThreadPool> = OnceLock::new();
    if let Some(pool) = POOL.get() {
        return Ok(pool);
    }
    let name = |number| format!("chunks-{number}");
    let built = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).thread_name(name).build();
    let built = built.map_err(|error| {
        Error::io("cannot start threads that read temporary data in", directory, io::Error::other(error))
    })?;
    Ok(POOL.get_or_init(|| built))
}
