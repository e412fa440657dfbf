//! Writes that are handed to the thread that writes.
//!
//! Where more threads write than there are cores, a thread that waits for its turn may find each time it is woken that
//! others were faster. So a thread that has waited for a while hands its batch to whichever thread has the turn, which
//! writes it after its own, and is woken once, when its batch is written. (Combining: Hendler, Incze, Shavit, Tzafrir, "Flat
//! Combining and the Synchronization-Parallelism Tradeoff", SPAA 2010.)

use super::core::{Core, Writing, lock};
use super::write_batch::{WriteBatch, Written};
use super::writer::Promise;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How long a thread waits before it hands its batch over, and after that until it looks whether the turn is free.
const PATIENCE: Duration = Duration::from_millis(1);
/// Larger batches wait for their turn: no thread is to spend long on those of others.
const MOST_WRITES: usize = 64;

/// What a batch has done, and what has to be durable before its thread goes on.
type Done = Result<(Written, Option<Promise>)>;

/// Batches that were handed over, and where their threads wait.
#[derive(Debug)]
pub(super) struct Handed<F: Fingerprint> {
    batches: Mutex<Vec<(WriteBatch<F>, SyncSender<Done>)>>,
    /// Whether there may be some.
    any: AtomicBool,
}

impl<F: Fingerprint> Default for Handed<F> {
    fn default() -> Self {
        Self { batches: Mutex::default(), any: AtomicBool::new(false) }
    }
}

impl<F: Fingerprint> Core<F> {
    /// Writes a batch when it is its turn, here or on another thread.
    pub(super) fn write_in_turn(&self, batch: &WriteBatch<F>) -> Done {
        if batch.len() > MOST_WRITES {
            return self.write_with(&mut self.writer()?, batch);
        }
        if let Some(mut writing) = self.writer_within(PATIENCE)? {
            let done = self.write_with(&mut writing, batch);
            self.write_handed(&mut writing);
            return done;
        }
        let (sender, receiver) = sync_channel(1);
        lock(&self.handed.batches).push((batch.clone(), sender));
        self.handed.any.store(true, Ordering::Release);
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(done) => return done,
                // The turn may have become free before the batch was handed over.
                Err(RecvTimeoutError::Timeout) => {
                    self.turn_if_free().iter_mut().for_each(|writing| self.write_handed(writing));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new(ErrorKind::Poisoned, "the thread that wrote has panicked")
                        .at_path(&self.common.path));
                }
            }
        }
    }

    /// Writes what other threads have handed over.
    fn write_handed(&self, writing: &mut Writing<'_>) {
        if self.handed.any.load(Ordering::Relaxed) {
            for (batch, sender) in self.take_handed() {
                let done = self.check_poison().and_then(|()| self.write_with(writing, &batch));
                // The thread waits for it.
                let _ = sender.send(done);
            }
        }
    }

    fn take_handed(&self) -> Vec<(WriteBatch<F>, SyncSender<Done>)> {
        let mut batches = lock(&self.handed.batches);
        self.handed.any.store(false, Ordering::Relaxed);
        std::mem::take(&mut *batches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Durability, Maintenance, Options, Parameters, Store};
    use std::collections::BTreeSet;
    use std::time::Instant;

    const THREADS: u64 = 5;

    /// Has threads insert numbered records while the test has the turn; once all have handed theirs over, `end` is given the turn.
    /// What they were told.
    fn inserted(end: impl FnOnce(&Core<u64>, Writing<'_>)) -> (Store<u64>, Vec<Result<u64>>, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new().with_maintenance(Maintenance::Manual);
        let store = Store::<u64>::create(directory.path().join("store"), &Parameters::new(3), &options).unwrap();
        store.insert_numbered(THREADS, Durability::Buffered).unwrap();
        let told = std::thread::scope(|scope| {
            let writing = store.core.writer().unwrap();
            let insert = |fingerprint| store.insert_numbered(fingerprint, Durability::SyncData);
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || insert(thread))).collect();
            let began = Instant::now();
            while lock(&store.core.handed.batches).len() < threads.len() {
                assert!(began.elapsed() < Duration::from_secs(60), "they wait for the turn");
                std::thread::sleep(Duration::from_millis(1));
            }
            end(&store.core, writing);
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        (store, told, directory)
    }

    #[test]
    fn each_thread_is_told_what_its_own_batch_has_done() {
        let served = |core: &Core<u64>, mut writing: Writing<'_>| core.write_handed(&mut writing);
        let left = |_: &Core<u64>, writing: Writing<'_>| drop(writing);
        for (store, told, _directory) in [inserted(served), inserted(left)] {
            for (fingerprint, number) in told.iter().enumerate() {
                let number = *number.as_ref().unwrap();
                assert_eq!(store.get(fingerprint as u64).unwrap(), [crate::Id::Number(number)]);
            }
            let numbers: BTreeSet<_> = told.into_iter().map(Result::unwrap).collect();
            assert_eq!(numbers, (1..=THREADS).collect());
            assert!(!store.core.handed.any.load(Ordering::Relaxed));
        }
    }

    #[test]
    fn nothing_that_was_handed_over_is_written_to_a_poisoned_store() {
        let (store, told, _directory) = inserted(|core, mut writing| {
            core.poison(&Error::invalid("a test"));
            core.write_handed(&mut writing);
        });
        assert!(told.iter().all(|told| told.as_ref().is_err_and(|error| error.kind() == ErrorKind::Poisoned)));
        assert_eq!(store.statistics().records, 1);
    }
}
