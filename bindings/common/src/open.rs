//! Opening a store or a key index whose kind and width are known at run time only.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use fpstore::admin::Statistics;
use fpstore::env::{Operation, Stoppable};
use fpstore::{AnyStore, Error, ErrorKind, KeyIndex, Options, Parameters, Result, Snapshot, U256};

/// Asks the long work of a store to end. Writes to new files then fail, and the store is as it was.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// The work was stopped.
#[derive(Clone, Copy, Debug)]
struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped")
    }
}

impl std::error::Error for Stopped {}

impl Stop {
    /// Stops the work, or lets it go on.
    pub fn set(&self, stopped: bool) {
        self.0.store(stopped, SeqCst);
    }

    /// Returns an error if the work is to end, or the operation of this thread is ([`Operation`]).
    ///
    /// # Errors
    /// `Stopped`.
    pub fn check(&self) -> Result<()> {
        let is_stopped = || Operation::current().is_some_and(|operation| operation.is_stopped());
        if self.0.load(SeqCst) || is_stopped() {
            Err(Error::new(ErrorKind::Stopped, "stopped before the end"))
        } else {
            Ok(())
        }
    }

    /// Options whose writes this stops, except those of background threads, which work for all callers.
    #[must_use]
    pub fn within(&self, options: Options) -> Options {
        let stopped = self.clone();
        let check = move || {
            let is_background = Operation::current().is_some_and(|operation| operation.is_background());
            if is_background { Ok(()) } else { stopped.check().map_err(|_| io::Error::other(Stopped)) }
        };
        options.with_env(Arc::new(Stoppable::new(check)))
    }
}

/// A store of fingerprints of any width, or a key index.
#[derive(Debug)]
pub enum AnyIndex {
    /// A store of fingerprints.
    Store(AnyStore),
    /// A key index.
    Keys(KeyIndex),
}

/// An open store or key index, with the options that it was opened with.
#[derive(Debug)]
pub struct Handle {
    /// The store.
    pub index: AnyIndex,
    /// Its options.
    pub options: Options,
    /// Stops its long work.
    pub stop: Stop,
    /// Whether it was opened for reading alone.
    pub is_read_only: bool,
    /// Threads that answer many queries.
    pub threads: usize,
    /// Whether a call was asked to end, which may still be ending.
    pub has_stopped: AtomicBool,
}

/// The state of a store of fingerprints at one moment.
#[derive(Clone, Debug)]
pub enum AnySnapshot {
    /// Of 64-bit fingerprints.
    Bits64(Snapshot<u64>),
    /// Of 128-bit fingerprints.
    Bits128(Snapshot<u128>),
    /// Of 256-bit fingerprints.
    Bits256(Snapshot<U256>),
}

/// Evaluates an expression with the typed snapshot.
macro_rules! with_snapshot {
    ($any:expr, $snapshot:ident => $body:expr) => {
        match $any {
            $crate::open::AnySnapshot::Bits64($snapshot) => $body,
            $crate::open::AnySnapshot::Bits128($snapshot) => $body,
            $crate::open::AnySnapshot::Bits256($snapshot) => $body,
        }
    };
}

impl AnySnapshot {
    /// The parameters of the store.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        with_snapshot!(self, snapshot => snapshot.parameters())
    }

    /// The store's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        with_snapshot!(self, snapshot => snapshot.path())
    }

    /// Sizes and counts.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        with_snapshot!(self, snapshot => snapshot.statistics())
    }
}

/// Evaluates an expression with the typed store.
macro_rules! with_store {
    ($any:expr, $store:ident => $body:expr) => {
        match $any {
            fpstore::AnyStore::Bits64($store) => $body,
            fpstore::AnyStore::Bits128($store) => $body,
            fpstore::AnyStore::Bits256($store) => $body,
        }
    };
}

pub(crate) use {with_snapshot, with_store};

impl Handle {
    /// Creates an empty store, or key index where the parameters are of one.
    ///
    /// # Errors
    /// Those of [`fpstore::Store::create`].
    pub fn create(path: &Path, parameters: &Parameters, options: Options, threads: usize) -> Result<Self> {
        let stop = Stop::default();
        let options = stop.within(options);
        let index = if parameters.keys().is_some() {
            AnyIndex::Keys(KeyIndex::create(path, parameters, &options)?)
        } else {
            AnyIndex::Store(AnyStore::create(path, parameters, &options)?)
        };
        Ok(Self { index, options, stop, is_read_only: false, threads, has_stopped: AtomicBool::default() })
    }

    /// Opens what is at the path.
    ///
    /// # Errors
    /// Those of [`fpstore::Store::open`].
    pub fn open(path: &Path, is_read_only: bool, options: Options, threads: usize) -> Result<Self> {
        let stop = Stop::default();
        let options = stop.within(options);
        let is_keys = fpstore::parameters_of(path, &options)?.keys().is_some();
        let index = match (is_keys, is_read_only) {
            (true, true) => AnyIndex::Keys(KeyIndex::open_read_only(path, &options)?),
            (true, false) => AnyIndex::Keys(KeyIndex::open(path, &options)?),
            (false, true) => AnyIndex::Store(AnyStore::open_read_only(path, &options)?),
            (false, false) => AnyIndex::Store(AnyStore::open(path, &options)?),
        };
        Ok(Self { index, options, stop, is_read_only, threads, has_stopped: AtomicBool::default() })
    }

    /// The store of fingerprints.
    ///
    /// # Errors
    /// `Unsupported` if it is a key index.
    pub fn store(&self) -> Result<&AnyStore> {
        match &self.index {
            AnyIndex::Store(store) => Ok(store),
            AnyIndex::Keys(_) => {
                Err(Error::new(ErrorKind::Unsupported, "this is a key index, not a store of fingerprints"))
            }
        }
    }

    /// The present state of the store of fingerprints.
    ///
    /// # Errors
    /// As [`Handle::store`].
    pub fn snapshot(&self) -> Result<AnySnapshot> {
        Ok(match self.store()? {
            AnyStore::Bits64(store) => AnySnapshot::Bits64(store.snapshot()),
            AnyStore::Bits128(store) => AnySnapshot::Bits128(store.snapshot()),
            AnyStore::Bits256(store) => AnySnapshot::Bits256(store.snapshot()),
        })
    }

    /// The key index.
    ///
    /// # Errors
    /// `Unsupported` if it is a store of fingerprints.
    pub fn keys(&self) -> Result<&KeyIndex> {
        match &self.index {
            AnyIndex::Keys(index) => Ok(index),
            AnyIndex::Store(_) => {
                Err(Error::new(ErrorKind::Unsupported, "this is a store of fingerprints, not a key index"))
            }
        }
    }

    /// The parameters with which it was created.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        match &self.index {
            AnyIndex::Store(store) => store.parameters(),
            AnyIndex::Keys(index) => index.parameters(),
        }
    }

    /// Its directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.index {
            AnyIndex::Store(store) => store.path(),
            AnyIndex::Keys(index) => index.path(),
        }
    }

    /// Closes it and reports errors.
    ///
    /// # Errors
    /// Those of [`fpstore::Store::close`].
    pub fn close(self) -> Result<()> {
        match self.index {
            AnyIndex::Store(store) => store.close(),
            AnyIndex::Keys(index) => index.close(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use fpstore::{Durability, Records};
    use std::thread;

    fn created(path: &Path, options: Options) -> Handle {
        Handle::create(path, &Parameters::new(3), options, 2).unwrap()
    }

    fn load(handle: &Handle, numbers: std::ops::Range<u64>) -> Result<u64> {
        let AnyStore::Bits64(store) = handle.store()? else { return Ok(0) };
        store.bulk_load(Records::Numbered(numbers.collect())).map(|report| report.added())
    }

    /// What was inserted is flushed and compacted while loads are to end.
    #[test]
    fn a_stop_leaves_the_threads_of_the_store_alone() {
        let directory = tempfile::tempdir().unwrap();
        // Merges of 120,000 ids do not fit in this memory.
        let options = Options::new().with_memtable_memory(1 << 20).with_load_memory(1 << 18);
        let parameters = Parameters::new(3).with_id_index(true);
        let handle = Handle::create(&directory.path().join("store"), &parameters, options, 2).unwrap();
        let AnyStore::Bits64(store) = handle.store().unwrap() else { unreachable!() };
        let insert = |number: u64| store.insert(number << 32, fpstore::IdRef::None, Durability::Buffered).unwrap();
        (0..20_000).for_each(insert);
        handle.stop.set(true);
        assert!(load(&handle, 0..1).is_err());
        (20_000..120_000).for_each(insert);
        store.wait_for_maintenance().unwrap();
        let health = store.health();
        assert!(handle.statistics().runs > 0 && health.is_good(), "{health:?}");
        handle.stop.set(false);
        assert_eq!(load(&handle, 0..1).unwrap(), 1);
        handle.close().unwrap();
    }

    /// Of operations at the same time, one ends.
    #[test]
    fn an_operation_ends_alone() {
        let directory = tempfile::tempdir().unwrap();
        let handle = created(&directory.path().join("store"), Options::new());
        let operation = Operation::default();
        operation.stop();
        thread::scope(|scope| {
            let stopped = scope.spawn(|| {
                for _ in 0..50 {
                    let failed = operation.run(|| load(&handle, 0..1000)).unwrap_err();
                    assert_eq!(failed.kind(), ErrorKind::Io);
                }
            });
            for number in 0..50 {
                assert_eq!(load(&handle, number * 1000..(number + 1) * 1000).unwrap(), 1000);
            }
            stopped.join().unwrap();
        });
        assert_eq!(handle.statistics().records, 50_000);
    }
}
