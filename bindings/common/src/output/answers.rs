//! Answers that come while they are found: a thread makes record batches, and waits when it is too far ahead.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use fpstore::{Error, ErrorKind, Progress, Result};

use super::rows::{Layout, Rows};
use crate::threads::no_thread;

/// Batches that may wait to be read.
const AHEAD: usize = 4;

/// Record batches of an answer, in order. Ends after the first error; work that is not read to the end stops when this is
/// dropped.
#[derive(Debug)]
pub struct Answers {
    schema: SchemaRef,
    batches: Option<Receiver<Result<RecordBatch>>>,
    thread: Option<JoinHandle<()>>,
    progress: Progress,
    skipped: Arc<AtomicU64>,
}

/// Takes the rows of an answer.
#[derive(Clone, Debug)]
pub struct Sender {
    batches: SyncSender<Result<RecordBatch>>,
    skipped: Arc<AtomicU64>,
}

impl Sender {
    /// Passes rows on, if there are any; breaks once the answers were dropped.
    ///
    /// # Errors
    /// As [`Rows::finish`].
    pub fn send(&self, rows: Rows) -> Result<ControlFlow<()>> {
        if rows.count() == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        let sent = self.batches.send(Ok(rows.finish()?));
        Ok(if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    /// Notes how many keys were too frequent to count.
    pub fn note_skipped(&self, keys: u64) {
        self.skipped.store(keys, Relaxed);
    }
}

impl Answers {
    /// Starts a thread that calls `find`, whose work this progress stops.
    ///
    /// # Errors
    /// `Io` if no thread can be started; those of `find` come as the last batch.
    pub fn start(
        layout: &Layout,
        progress: Progress,
        find: impl FnOnce(&Sender) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let ((sender, batches), skipped) = (sync_channel(AHEAD), Arc::new(AtomicU64::new(0)));
        let sender = Sender { batches: sender, skipped: Arc::clone(&skipped) };
        let work = move || {
            if let Err(error) = find(&sender) {
                // The answers may have been dropped.
                let _ = sender.batches.send(Err(error));
            }
        };
        let thread = std::thread::Builder::new().name("fpstore answers".to_owned()).spawn(work);
        let thread = Some(thread.map_err(no_thread)?);
        Ok(Self { schema: layout.schema(), batches: Some(batches), thread, progress, skipped })
    }

    /// The progress of the work.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Keys that were too frequent to count, after the work has ended ([`fpstore::keys::KeyRule::with_max_key_frequency`]).
    #[must_use]
    pub fn skipped_keys(&self) -> &Arc<AtomicU64> {
        &self.skipped
    }

    /// The next batch; `None` after the last one. Returns `Err(())` if none has come within this time.
    ///
    /// # Errors
    /// That there is none yet.
    #[expect(clippy::result_unit_err, reason = "the only cause is the time")]
    pub fn next_within(&mut self, time: Duration) -> std::result::Result<Option<Result<RecordBatch>>, ()> {
        let Some(batches) = &self.batches else { return Ok(None) };
        match batches.recv_timeout(time) {
            Ok(Ok(batch)) => Ok(Some(Ok(batch))),
            Ok(Err(error)) => {
                self.batches = None;
                Ok(Some(Err(error)))
            }
            Err(RecvTimeoutError::Timeout) => Err(()),
            Err(RecvTimeoutError::Disconnected) => Ok(self.ended().map(Err)),
        }
    }

    /// Waits for the thread; returns an error if it has panicked.
    fn ended(&mut self) -> Option<Error> {
        self.batches = None;
        let panicked = self.thread.take()?.join().is_err();
        panicked.then(|| Error::new(ErrorKind::Io, "a thread of fpstore has panicked; please report it"))
    }

    /// Stops the work without waiting for its end.
    pub fn stop(&mut self) {
        self.batches = None;
        self.progress.stop();
        self.thread = None;
    }
}

impl Iterator for Answers {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        const DAY: Duration = Duration::from_secs(86_400);
        loop {
            if let Ok(next) = self.next_within(DAY) {
                return next.map(|batch| batch.map_err(|error| ArrowError::ExternalError(Box::new(error))));
            }
        }
    }
}

impl RecordBatchReader for Answers {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

impl Drop for Answers {
    /// Stops the work and waits for its end, so that it does not outlive what it was asked for.
    fn drop(&mut self) {
        self.progress.stop();
        self.ended();
    }
}
