//! Iterators over pairs: a background thread finds them, and waits when it is too far ahead.

use crate::error::Result;
use crate::executor::spawn;
use crate::fingerprint::{Fingerprint, Record};
use crate::join::job::Progress;
use crate::join::pair::{Pair, RecordPair, RecordPairs};
use crate::join::pairs::Pairs;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::vec::IntoIter;

/// Record pairs that are handed on together.
const CHUNK: usize = 1024;

/// Iterates over pairs of distinct fingerprints. Ends after the first error.
#[derive(Debug)]
pub struct PairIter<F: Fingerprint = u64>(Background<Pair<F>>);

/// Iterates over pairs of records. Ends after the first error.
#[derive(Debug)]
pub struct RecordPairIter<F: Fingerprint = u64>(Background<RecordPair<F>>);

impl<F: Fingerprint> Pairs<F> {
    /// Pairs of distinct fingerprints; between two stores, equal ones are pairs too.
    ///
    /// # Errors
    /// `Io` if no thread can be started; the iterator returns those of reading.
    pub fn distinct(self) -> Result<PairIter<F>> {
        let find = |pairs: Self, sender: &_| pairs.visit_distinct(<[_]>::to_vec, |chunk| Ok(send(sender, chunk)));
        Background::start(self.progress(), move |sender| find(self, sender)).map(PairIter)
    }

    /// Pairs of records.
    ///
    /// # Errors
    /// As [`Pairs::distinct`].
    pub fn records(self) -> Result<RecordPairIter<F>> {
        let find = |pairs: Self, sender: &_| pairs.visit_records(gather, |chunk| Ok(send(sender, chunk)));
        Background::start(self.progress(), move |sender| find(self, sender)).map(RecordPairIter)
    }
}

impl<F: Fingerprint> Iterator for PairIter<F> {
    type Item = Result<Pair<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_item()
    }
}

impl<F: Fingerprint> Iterator for RecordPairIter<F> {
    type Item = Result<RecordPair<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_item()
    }
}

fn gather<F: Fingerprint>(chunk: &mut Vec<RecordPair<F>>, found: RecordPairs<'_, F>) -> ControlFlow<()> {
    for a in found.a {
        let record = |fingerprint, id: &_| Record { fingerprint, id: Clone::clone(id) };
        chunk.extend(found.b.iter().map(|b| RecordPair { a: record(found.pair.a, a), b: record(found.pair.b, b) }));
    }
    if chunk.len() < CHUNK { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// Sends a chunk; breaks once the iterator was dropped.
fn send<T>(sender: &SyncSender<Result<Vec<T>>>, chunk: Vec<T>) -> ControlFlow<()> {
    if sender.send(Ok(chunk)).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// The results of a background thread, chunk by chunk.
#[derive(Debug)]
struct Background<T> {
    chunk: IntoIter<T>,
    chunks: Option<Receiver<Result<Vec<T>>>>,
    thread: Option<JoinHandle<()>>,
    progress: Progress,
}

impl<T: Send + 'static> Background<T> {
    fn start(
        progress: Progress,
        find: impl FnOnce(&SyncSender<Result<Vec<T>>>) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let (sender, chunks) = sync_channel(4);
        let work = move || {
            if let Err(error) = find(&sender) {
                // Without a receiver there is no caller to report it to.
                let _ = sender.send(Err(error));
            }
        };
        let thread = spawn("fpstore pairs", work)?;
        Ok(Self { chunk: Vec::new().into_iter(), chunks: Some(chunks), thread: Some(thread), progress })
    }
}

impl<T> Background<T> {
    fn next_item(&mut self) -> Option<Result<T>> {
        loop {
            if let Some(item) = self.chunk.next() {
                return Some(Ok(item));
            }
            match self.chunks.as_ref()?.recv() {
                Ok(Ok(chunk)) => self.chunk = chunk.into_iter(),
                Ok(Err(error)) => {
                    self.end();
                    return Some(Err(error));
                }
                Err(_) => self.end(),
            }
        }
    }

    /// Stops the thread and waits for it. Resumes its panic on this thread.
    fn end(&mut self) {
        self.chunks = None;
        self.progress.stop();
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.end();
    }
}
