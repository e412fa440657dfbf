//! Pairs one after another: found by threads in the background, which wait when they are too far ahead.

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

impl<F: Fingerprint> PairIter<F> {
    pub(crate) fn new(pairs: Pairs<F>) -> Result<Self> {
        let progress = pairs.progress();
        let find = move |sender: &SyncSender<_>| pairs.visit_distinct(<[_]>::to_vec, |chunk| Ok(send(sender, chunk)));
        Background::start(progress, find).map(Self)
    }
}

impl<F: Fingerprint> Iterator for PairIter<F> {
    type Item = Result<Pair<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_item()
    }
}

/// Iterates over pairs of records. Ends after the first error.
#[derive(Debug)]
pub struct RecordPairIter<F: Fingerprint = u64>(Background<RecordPair<F>>);

impl<F: Fingerprint> RecordPairIter<F> {
    pub(crate) fn new(pairs: Pairs<F>) -> Result<Self> {
        let progress = pairs.progress();
        let find = move |sender: &SyncSender<_>| pairs.visit_records(gather, |chunk| Ok(send(sender, chunk)));
        Background::start(progress, find).map(Self)
    }
}

fn gather<F: Fingerprint>(chunk: &mut Vec<RecordPair<F>>, found: RecordPairs<'_, F>) -> ControlFlow<()> {
    for a in found.a {
        let record = |fingerprint, id: &_| Record { fingerprint, id: Clone::clone(id) };
        chunk.extend(found.b.iter().map(|b| RecordPair { a: record(found.pair.a, a), b: record(found.pair.b, b) }));
    }
    if chunk.len() < CHUNK { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

impl<F: Fingerprint> Iterator for RecordPairIter<F> {
    type Item = Result<RecordPair<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_item()
    }
}

/// Hands on a chunk; breaks when nobody wants it.
fn send<T>(sender: &SyncSender<Result<Vec<T>>>, chunk: Vec<T>) -> ControlFlow<()> {
    if sender.send(Ok(chunk)).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// What a thread finds, chunk by chunk.
#[derive(Debug)]
struct Background<T> {
    chunk: IntoIter<T>,
    /// None at the end.
    chunks: Option<Receiver<Result<Vec<T>>>>,
    thread: Option<JoinHandle<()>>,
    /// Has it end.
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
                // If nobody waits for it, nobody has to know.
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

    /// Waits for the thread, which stops soon. A panic there is one here.
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
