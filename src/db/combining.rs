//! Small batches of waiting threads, written by the thread that holds the writer lock.
//!
//! With more writers than cores, a thread that waits for the lock may find it taken each time it wakes. So after a
//! while it hands its batch to the thread that has the lock, which writes it after its own, and is woken once.
//! (Combining: Hendler, Incze, Shavit, Tzafrir, "Flat Combining and the Synchronization-Parallelism Tradeoff", SPAA
//! 2010.)

use crate::db::store_inner::{StoreInner, Writing};
use crate::db::write_batch::Write;
use crate::db::writer::Done;
use crate::error::{Error, ErrorKind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How long a thread waits for the lock before it hands its batch over, and after that between two tries for the lock.
const WAIT: Duration = Duration::from_millis(1);
/// Most writes of a batch that is handed over, so that no thread spends long on batches of others.
const MOST_WRITES: usize = 64;

impl StoreInner {
    pub(crate) fn write_in_turn(&self, batch: &[Write]) -> Done {
        let writer = self.writer_lock()?;
        let writing = if batch.len() > MOST_WRITES { Some(writer.lock()) } else { writer.lock_within(WAIT) };
        if let Some(mut writing) = writing {
            self.check_poison()?;
            let done = self.write_with(&mut writing, batch);
            self.write_handed(&mut writing);
            return done;
        }
        let (sender, receiver) = sync_channel(1);
        self.handed.lock().push((batch.to_vec(), sender));
        loop {
            match receiver.recv_timeout(WAIT) {
                Ok(done) => return done,
                // Perhaps no other thread takes the lock.
                Err(RecvTimeoutError::Timeout) => {
                    writer.try_lock().iter_mut().for_each(|writing| self.write_handed(writing));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let error = Error::new(ErrorKind::Poisoned, "a thread has panicked while it wrote for others");
                    self.poison(&error);
                    return Err(error.at_path(&self.context.path));
                }
            }
        }
    }

    /// Writes the batches that other threads have handed over.
    pub(crate) fn write_handed(&self, writing: &mut Writing<'_>) {
        let handed = std::mem::take(&mut *self.handed.lock());
        for (batch, sender) in handed {
            let done = self.check_poison().and_then(|()| self.write_with(writing, &batch));
            let _ = sender.send(done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::{Durability, Maintenance, Options, Parameters, Store};
    use std::collections::BTreeSet;
    use std::time::Instant;

    const THREADS: u64 = 5;

    /// The results of threads that insert numbered records while the test holds the writer lock. `end` gets the lock
    /// when all threads have handed their batches over.
    fn inserted(end: impl FnOnce(&StoreInner, Writing<'_>)) -> (Store<u64>, Vec<Result<u64>>, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new().with_maintenance(Maintenance::Manual);
        let store = Store::<u64>::create(directory.path().join("store"), &Parameters::new(3), &options).unwrap();
        store.insert_numbered(THREADS, Durability::Buffered).unwrap();
        let results = std::thread::scope(|scope| {
            let writing = store.inner().writer().unwrap();
            let insert = |fingerprint| store.insert_numbered(fingerprint, Durability::SyncData);
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || insert(thread))).collect();
            let began = Instant::now();
            while store.inner().handed.lock().len() < threads.len() {
                assert!(began.elapsed() < Duration::from_secs(60), "they wait for the turn");
                std::thread::sleep(Duration::from_millis(1));
            }
            end(store.inner(), writing);
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        (store, results, directory)
    }

    #[test]
    fn each_thread_gets_the_result_of_its_own_batch() {
        let served = |inner: &StoreInner, mut writing: Writing<'_>| inner.write_handed(&mut writing);
        let left = |_: &StoreInner, writing: Writing<'_>| drop(writing);
        for (store, results, _directory) in [inserted(served), inserted(left)] {
            for (fingerprint, number) in results.iter().enumerate() {
                let number = *number.as_ref().unwrap();
                assert_eq!(store.get(fingerprint as u64).unwrap(), [crate::Id::Number(number)]);
            }
            let numbers: BTreeSet<_> = results.into_iter().map(Result::unwrap).collect();
            assert_eq!(numbers, (1..=THREADS).collect());
            assert!(store.inner().handed.lock().is_empty());
        }
    }

    #[test]
    fn a_store_that_is_open_for_reading_refuses_at_once() {
        let (store, _, _directory) = inserted(|inner, mut writing| inner.write_handed(&mut writing));
        let reader = Store::<u64>::open_read_only(store.path(), &Options::new()).unwrap();
        assert!(reader.inner().writer.is_none());
        let error = reader.insert_numbered(1, Durability::Buffered).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly);
    }

    #[test]
    fn nothing_that_was_handed_over_is_written_to_a_poisoned_store() {
        let (store, results, _directory) = inserted(|inner, mut writing| {
            inner.poison(&Error::invalid("a test"));
            inner.write_handed(&mut writing);
        });
        assert!(results.iter().all(|result| result.as_ref().is_err_and(|error| error.kind() == ErrorKind::Poisoned)));
        assert_eq!(store.statistics().records, 1);
    }

    #[test]
    fn a_record_that_is_not_inserted_waits_for_no_writer() {
        let (store, _, _directory) = inserted(|inner, mut writing| inner.write_handed(&mut writing));
        std::thread::scope(|scope| {
            let writing = store.inner().writer().unwrap();
            let (sender, receiver) = sync_channel(1);
            let insert = || store.insert_if_new(3, crate::IdRef::None, 3, Durability::Buffered).unwrap().inserted;
            scope.spawn(move || sender.send(insert()).unwrap());
            let inserted = receiver.recv_timeout(Duration::from_secs(20));
            drop(writing);
            assert_eq!(inserted, Ok(false));
        });
    }
}
