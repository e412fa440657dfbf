//! Allocates the next memtable before it is needed.
//!
//! Under load an allocation takes as long as tens of thousands of inserts. So when the active memtable is nearly full,
//! the flush thread allocates the next one and makes the log durable so far, while writes go on. A load does the same
//! before it makes writers wait.

use crate::db::store_inner::StoreInner;
use crate::db::version_set::NextMemtable;
use crate::db::writer::Writer;
use crate::error::Result;
use crate::memtable::Memtable;
use crate::options::Maintenance;
use crate::wal::{Durability, Promise};
use std::sync::Arc;

impl StoreInner {
    /// The active memtable. Requests the next one when this one is nearly full.
    pub(crate) fn active(&self, writer: &Writer) -> Option<Arc<Memtable>> {
        let mut versions = self.versions();
        let background = self.context.options.maintenance == Maintenance::Background;
        if background
            && matches!(versions.next, NextMemtable::Later)
            && versions.active.as_ref().is_some_and(|active| active.is_nearly_full())
        {
            versions.next = NextMemtable::Wanted(writer.promise());
            self.changed.notify_all();
        }
        versions.active.clone()
    }

    /// Allocates the next memtable if the active one is in use, and makes `written` durable. Takes no writer lock: its
    /// holder may wait for the flush thread. A failed sync poisons the store.
    pub(crate) fn prepare_next(&self, written: Option<&Promise>) -> Result<()> {
        let mut versions = self.versions();
        let is_used = versions.active.as_ref().is_some_and(|active| !active.is_empty());
        let is_needed = is_used && !matches!(versions.next, NextMemtable::Made(_));
        if is_needed {
            versions.next = NextMemtable::Tried;
        }
        drop(versions);
        if is_needed && let Ok(memtable) = Memtable::new(&self.context.shape, 0) {
            // Another thread may have allocated one meanwhile, which is dropped outside the lock.
            let before = std::mem::replace(&mut self.versions().next, NextMemtable::Made(Arc::new(memtable)));
            drop(before);
        }
        self.wait_durable(written, Durability::SyncAll)
    }

    /// A memtable for at least this many records: the one allocated ahead, or a new one. Fails with `Io` without enough
    /// memory.
    pub(crate) fn take_next(&self, records: usize) -> Result<Arc<Memtable>> {
        let next = std::mem::replace(&mut self.versions().next, NextMemtable::Later);
        match next {
            NextMemtable::Made(memtable) if memtable.capacity() >= records => Ok(memtable),
            _ => Ok(Arc::new(Memtable::new(&self.context.shape, records)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Parameters, Record, Records, Store};
    use std::collections::BTreeSet;
    use std::time::{Duration, Instant};

    fn store(path: &std::path::Path, maintenance: Maintenance) -> Store<u64> {
        let options = Options::new().with_maintenance(maintenance).with_memtable_memory(256 << 10);
        Store::create(path, &Parameters::new(3), &options).unwrap()
    }

    #[test]
    fn the_next_memtable_is_allocated_before_the_active_one_is_full() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(&directory.path().join("store"), Maintenance::Background);
        let inner = store.inner();
        let insert = |number| store.insert(number, number, Durability::Buffered).unwrap();
        insert(0);
        let capacity = inner.versions().active.as_ref().unwrap().capacity() as u64;
        let nearly = capacity / 4 * 3 + 1;
        (1..nearly).for_each(insert);
        assert!(matches!(inner.versions().next, NextMemtable::Later));
        insert(nearly);
        insert(nearly + 1);
        let began = Instant::now();
        let next = loop {
            if let NextMemtable::Made(next) = &inner.versions().next {
                break Arc::clone(next);
            }
            assert!(began.elapsed() < Duration::from_secs(60), "it was not allocated");
            std::thread::sleep(Duration::from_millis(1));
        };
        (nearly + 2..=capacity).for_each(insert);
        let is_active = Arc::ptr_eq(inner.versions().active.as_ref().unwrap(), &next);
        assert!(is_active && matches!(inner.versions().next, NextMemtable::Later));
        assert_eq!(store.statistics().records, capacity + 1);
    }

    fn logs(path: &std::path::Path) -> Vec<String> {
        let names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".wal")).collect()
    }

    #[test]
    fn no_log_grows_forever() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let store = store(&path, Maintenance::Foreground);
        let mut seen = BTreeSet::new();
        for load in 0..40 {
            store.insert_many((0..1000).map(|number| (load << 32 | number, number)), Durability::Buffered).unwrap();
            // No record of it is new, so no run is installed.
            store.bulk_load(Records::WithIds(vec![Record::new(0, 0)])).unwrap();
            assert!(logs(&path).len() <= 1);
            seen.extend(logs(&path));
        }
        assert!(seen.len() > 1, "{seen:?}");
        assert_eq!(store.statistics().records, 40_000);
    }

    #[test]
    fn a_log_continues_after_the_flush_of_a_load() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let store = store(&path, Maintenance::Manual);
        let insert = |number| store.insert(number, number, Durability::SyncData).unwrap();
        let logs = || logs(&path).len();
        (0..10).for_each(insert);
        store.inner().flush_beside().unwrap();
        (10..20).for_each(insert);
        assert_eq!((store.statistics().runs, logs()), (1, 1));
        // The files of a process that ends now.
        let copy = directory.path().join("copy");
        std::fs::create_dir(&copy).unwrap();
        for entry in std::fs::read_dir(&path).unwrap() {
            let from = entry.unwrap().path();
            std::fs::copy(&from, copy.join(from.file_name().unwrap())).unwrap();
        }
        let left = Store::<u64>::open(&copy, &Options::new()).unwrap();
        assert_eq!((left.statistics().records, left.recovery().batches), (20, 10));
        left.insert(20, 20, Durability::SyncData).unwrap();
        drop(left);
        assert_eq!(Store::<u64>::open(&copy, &Options::new()).unwrap().statistics().records, 21);
        // A load flushes the rest before its run.
        assert_eq!(store.bulk_load(Records::WithIds(vec![])).unwrap().records, 0);
        assert_eq!((store.statistics().runs, store.statistics().records), (2, 20));
        // All its writes are in segments.
        assert_eq!(logs(), 1);
        store.flush().unwrap();
        assert_eq!(logs(), 0);
    }
}
