//! Answers that come while they are found: a thread makes record batches, and waits when it is too far ahead.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use fpstore::{Error, ErrorKind, Progress, Result};

use super::rows::{BATCH, Layout, Rows};
use crate::threads::no_thread;

/// Batches that may wait to be read.
const AHEAD: usize = 4;
/// How long rows wait for more that come after them.
const PATIENCE: Duration = Duration::from_millis(100);

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

/// Takes the rows of an answer. Combines few rows with those that follow soon, because each batch costs its reader time.
#[derive(Debug)]
pub struct Sender {
    batches: SyncSender<Result<RecordBatch>>,
    waiting: Mutex<Waiting>,
    skipped: Arc<AtomicU64>,
}

/// Batches that wait for more.
#[derive(Debug, Default)]
struct Waiting {
    batches: Vec<RecordBatch>,
    rows: usize,
    /// When the first one came.
    since: Option<Instant>,
}

impl Sender {
    /// Passes rows on, if there are any, unless they are few and wait for more; breaks if the answers were dropped.
    ///
    /// # Errors
    /// As [`Rows::finish`].
    pub fn send(&self, rows: Rows) -> Result<ControlFlow<()>> {
        if rows.count() == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        let mut waiting = self.waiting();
        waiting.rows += rows.count();
        waiting.batches.push(rows.finish()?);
        if waiting.rows < BATCH / 2 && waiting.since.get_or_insert_with(Instant::now).elapsed() < PATIENCE {
            return Ok(ControlFlow::Continue(()));
        }
        self.pass(&std::mem::take(&mut *waiting).batches)
    }

    /// Passes on the rows that wait.
    fn flush(&self) -> Result<ControlFlow<()>> {
        self.pass(&std::mem::take(&mut *self.waiting()).batches)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, batches: &[RecordBatch]) -> Result<ControlFlow<()>> {
        let batch = match batches {
            [] => return Ok(ControlFlow::Continue(())),
            [one] => one.clone(),
            [one, ..] => concat_batches(one.schema_ref(), batches)
                .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?,
        };
        let sent = self.batches.send(Ok(batch));
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
        let sender = Sender { batches: sender, waiting: Mutex::default(), skipped: Arc::clone(&skipped) };
        let work = move || {
            let found = find(&sender);
            // The rows before an error come first.
            if let Err(error) = sender.flush().and(found) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::output::Kind;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;

    /// The answers of work that sends these numbers of rows, numbered, with a pause after each, and then fails.
    fn answers(counts: &'static [usize], pause: Duration) -> Vec<std::result::Result<Vec<u64>, ArrowError>> {
        let layout = Layout::new(&[("number", Kind::Number)]);
        let shape = layout.clone();
        let started = Answers::start(&layout, Progress::default(), move |sender| {
            let mut next = 0u64;
            for &count in counts {
                let mut rows = shape.rows();
                for _ in 0..count {
                    rows.number(next);
                    rows.end_row();
                    next += 1;
                }
                assert!(sender.send(rows)?.is_continue());
                std::thread::sleep(pause);
            }
            Err(Error::new(ErrorKind::Io, "the end"))
        });
        let numbers = |batch: RecordBatch| batch.column(0).as_primitive::<UInt64Type>().values().to_vec();
        started.unwrap().map(|batch| batch.map(numbers)).collect()
    }

    #[test]
    fn few_rows_are_combined_and_come_before_an_error() {
        const FEW: usize = BATCH / 4;
        for (counts, expected) in [
            (&[1, 2, 3][..], &[6][..]),
            (&[FEW, 0, FEW, FEW, 1], &[2 * FEW, FEW + 1]),
            (&[BATCH, 1, BATCH, BATCH], &[BATCH, BATCH + 1, BATCH]),
            (&[], &[]),
        ] {
            let mut found = answers(counts, Duration::ZERO);
            assert!(found.pop().unwrap().unwrap_err().to_string().contains("the end"));
            let found: Vec<Vec<u64>> = found.into_iter().map(std::result::Result::unwrap).collect();
            assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), expected);
            assert!(found.concat().into_iter().eq(0..counts.iter().sum::<usize>() as u64));
        }
    }

    #[test]
    fn rows_of_slow_work_come_before_its_end() {
        let found = answers(&[1, 1, 1, 1], PATIENCE);
        assert_eq!(found.iter().flatten().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    }
}
