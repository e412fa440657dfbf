//! Requests of a store to the device: one sync for many threads, no sync after a failed one, and no writes where only
//! reading is possible.

use crate::support::*;
use fpstore::env::{Env, LockFile, LogFile, Memory, ReadFile, ScratchFile, WriteFile};
use fpstore::repair::{Lost, plan, repair};
use fpstore::{
    Durability, ErrorKind, IdKind, IdRef, Maintenance, Options, Parameters, ReadMode, Record, Store, inspect,
};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A device with slow syncs and failures on request.
#[derive(Clone, Debug, Default)]
struct Device {
    memory: Memory,
    told: Arc<Told>,
}

#[derive(Debug, Default)]
struct Told {
    /// Syncs of logs so far.
    syncs: AtomicU64,
    /// Whether these fail.
    fails_to_sync: AtomicBool,
    /// Whether all writes fail.
    is_full: AtomicBool,
    /// Whether syncing the name of a manifest fails, and whether the last rename was one of a manifest.
    fails_to_sync_names: AtomicBool,
    is_manifest_last: AtomicBool,
    /// Whether there is no space for large files, and the number of requests for it, which take time.
    has_no_room: AtomicBool,
    asked_for_room: AtomicU64,
    /// Whether listings include a file that does not exist.
    lists_a_ghost: AtomicBool,
    /// Unreadable bytes of a file.
    bad: Mutex<Option<(PathBuf, Range<u64>)>>,
}

impl Device {
    fn write<T>(&self, work: impl FnOnce(&Memory) -> io::Result<T>) -> io::Result<T> {
        if self.told.is_full.load(Ordering::SeqCst) {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            work(&self.memory)
        }
    }

    fn options(&self) -> Options {
        let env: Arc<dyn Env> = Arc::new(self.clone());
        Options::new().with_env(env).with_maintenance(Maintenance::Manual)
    }

    fn syncs(&self) -> u64 {
        self.told.syncs.load(Ordering::SeqCst)
    }
}

impl Env for Device {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.write(|memory| memory.create_dir(path))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.memory.remove_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = self.memory.list(path)?;
        names.extend(self.told.lists_a_ghost.load(Ordering::SeqCst).then(|| "00000099.segment".to_owned()));
        Ok(names)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.write(|memory| memory.create(path))
    }

    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        let inner = self.memory.open(path, mode)?;
        let bad = self.told.bad.lock().unwrap().clone().filter(|bad| bad.0 == path);
        Ok(match bad {
            None => inner,
            Some((_, bad)) => Box::new(BadFile { inner, bad }),
        })
    }

    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        let inner = self.write(|memory| memory.create_log(path))?;
        Ok(Box::new(SlowLog { inner, device: self.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.told.is_manifest_last.store(to.ends_with("MANIFEST"), Ordering::SeqCst);
        self.write(|memory| memory.rename(from, to))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.write(|memory| memory.hard_link(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.memory.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let is_manifest = self.told.is_manifest_last.load(Ordering::SeqCst);
        if is_manifest && self.told.fails_to_sync_names.load(Ordering::SeqCst) {
            return Err(io::Error::other("the device does not answer"));
        }
        self.memory.sync_dir(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>> {
        self.memory.lock(path)
    }

    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>> {
        self.write(|memory| memory.scratch(directory))
    }

    fn free_bytes(&self, _: &Path) -> Option<u64> {
        if !self.told.has_no_room.load(Ordering::SeqCst) {
            return None;
        }
        self.told.asked_for_room.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(300));
        Some(0)
    }
}

/// A file on a bad sector.
#[derive(Debug)]
struct BadFile {
    inner: Box<dyn ReadFile>,
    bad: Range<u64>,
}

impl ReadFile for BadFile {
    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn read<'a>(&'a self, offset: u64, length: usize, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        if offset < self.bad.end && self.bad.start < offset + length as u64 {
            return Err(io::Error::other("a bad sector"));
        }
        self.inner.read(offset, length, buffer)
    }

    fn is_stable(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct SlowLog {
    inner: Box<dyn LogFile>,
    device: Device,
}

impl SlowLog {
    fn sync(&self, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.device.told.syncs.fetch_add(1, Ordering::SeqCst);
        if self.device.told.fails_to_sync.load(Ordering::SeqCst) {
            return Err(io::Error::other("the device does not answer"));
        }
        std::thread::sleep(Duration::from_millis(5));
        work()
    }
}

impl LogFile for SlowLog {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.device.write(|_| self.inner.write_at(offset, bytes))
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        self.device.write(|_| self.inner.allocate(length))
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.inner.cut(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync(|| self.inner.sync_data())
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync(|| self.inner.sync_all())
    }
}

fn store_on(device: &Device) -> Store {
    Store::create("store", &Parameters::new(3), &device.options()).unwrap()
}

#[test]
fn threads_share_syncs() {
    const THREADS: u64 = 8;
    const EACH: u64 = 20;
    let device = Device::default();
    let store = store_on(&device);
    let before = device.syncs();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                (0..EACH)
                    .for_each(|n| store.insert(thread << 32 | n, thread * EACH + n, Durability::SyncData).unwrap());
            });
        }
    });
    let syncs = device.syncs() - before;
    assert!(syncs >= EACH, "{syncs} syncs cannot have been enough");
    assert!(syncs <= THREADS * EACH / 2, "{syncs} syncs for {} inserts", THREADS * EACH);
    drop(store);
    device.memory.crash();
    let store = Store::<u64>::open("store", &device.options()).unwrap();
    assert_eq!(store.records().count() as u64, THREADS * EACH);
}

#[test]
fn threads_share_the_syncs_of_removals_from_counts_too() {
    const THREADS: u64 = 8;
    const EACH: u64 = 20;
    let device = Device::default();
    let parameters = Parameters::new(3).with_ids(IdKind::None);
    let store = Store::<u64>::create("store", &parameters, &device.options()).unwrap();
    (0..THREADS * EACH).for_each(|n| store.insert(n % 4, IdRef::None, Durability::Buffered).unwrap());
    let before = device.syncs();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                (0..EACH).for_each(|_| assert!(store.remove(thread % 4, IdRef::None, Durability::SyncData).unwrap()));
            });
        }
    });
    let syncs = device.syncs() - before;
    assert!(syncs <= THREADS * EACH / 2, "{syncs} syncs for {} removals", THREADS * EACH);
    assert_eq!(store.statistics().records, 0);
}

#[test]
fn a_store_whose_merging_waits_for_room_is_closed_at_once() {
    let device = Device::default();
    drop(store_on(&device));
    device.told.has_no_room.store(true, Ordering::SeqCst);
    let options = device.options().with_maintenance(Maintenance::Background);
    let store = Store::<u64>::open("store", &options).unwrap();
    for n in 0..8 {
        store.insert(n, n, Durability::Buffered).unwrap();
        store.flush().unwrap();
    }
    // Maintenance without space for it is not due.
    store.wait_for_maintenance().unwrap();
    drop(store);
    let (store, asked) =
        (Store::<u64>::open("store", &options).unwrap(), || device.told.asked_for_room.load(Ordering::SeqCst));
    let (before, until) = (asked(), Instant::now() + Duration::from_secs(60));
    while asked() == before {
        assert!(Instant::now() < until, "nothing is merged");
        std::thread::yield_now();
    }
    // The store does not wait for space yet: the device is only now reporting that there is none.
    let (closed, is_closed) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        drop(store);
        closed.send(()).unwrap();
    });
    is_closed.recv_timeout(Duration::from_secs(5)).expect("closing waits for another attempt");
    assert_eq!(Store::<u64>::open("store", &device.options()).unwrap().records().count(), 8);
}

#[test]
fn a_leftover_that_somebody_else_removes_first_is_no_error() {
    let device = Device::default();
    drop(store_on(&device));
    device.told.lists_a_ghost.store(true, Ordering::SeqCst);
    assert_eq!(Store::<u64>::open("store", &device.options()).unwrap().records().count(), 0);
}

#[test]
fn a_sync_that_has_failed_is_not_tried_again() {
    let device = Device::default();
    let store = store_on(&device);
    store.insert(1, 1, Durability::SyncData).unwrap();
    device.told.fails_to_sync.store(true, Ordering::SeqCst);
    assert_eq!(store.insert(2, 2, Durability::SyncData).unwrap_err().kind(), ErrorKind::Io);
    let syncs = device.syncs();
    device.told.fails_to_sync.store(false, Ordering::SeqCst);
    for durability in [Durability::SyncData, Durability::SyncAll, Durability::Buffered] {
        let error = store.insert(3, 3, durability).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Poisoned, "{error}");
        assert_eq!(store.sync(durability).unwrap_err().kind(), ErrorKind::Poisoned);
        assert_eq!(store.insert_if_new(1, 9, 3, durability).unwrap_err().kind(), ErrorKind::Poisoned);
    }
    assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::Poisoned);
    assert_eq!(store.query(1, 0).unwrap().len(), 1, "it goes on answering");
    drop(store);
    assert_eq!(device.syncs(), syncs);
    // The next writer reads the existing log, and makes it durable by writing it again.
    let store = Store::<u64>::open("store", &device.options()).unwrap();
    store.insert(4, 4, Durability::SyncData).unwrap();
    drop(store);
    device.memory.crash();
    let store = Store::<u64>::open("store", &device.options()).unwrap();
    assert!(store.get(1).unwrap().len() == 1 && store.get(4).unwrap().len() == 1);
}

#[test]
fn a_full_disk_fails_writes_alone_and_loses_nothing() {
    let device = Device::default();
    let store = store_on(&device);
    let records = numbered(&families(40, 4, 3));
    let sorted = |records: &[Record]| {
        let mut records = records.to_vec();
        records.sort();
        records
    };
    let insert = |store: &Store, record: &Record| store.insert(record.fingerprint, &record.id, Durability::SyncData);
    let (first, rest) = records.split_at(100);
    first.iter().for_each(|record| insert(&store, record).unwrap());
    device.told.is_full.store(true, Ordering::SeqCst);
    // Even the space reserved for the log is unusable on this disk.
    let error = insert(&store, &rest[0]).unwrap_err();
    assert!(error.kind() == ErrorKind::Io && error.path().is_some(), "{error}");
    let readers = || {
        let there = store.records().collect::<Result<Vec<_>, _>>().unwrap();
        assert!(there == sorted(first), "reads go on");
        compare(&store, first, &first.iter().map(|record| record.fingerprint).collect::<Vec<_>>(), 0..=3, "full");
        let reader = Store::<u64>::open_read_only("store", &device.options()).unwrap();
        assert_eq!(reader.records().count(), first.len());
    };
    readers();
    assert!(insert(&store, &rest[0]).is_err() && store.flush().is_err() && store.compact().is_err());
    readers();
    drop(store);
    device.memory.crash();
    device.told.is_full.store(false, Ordering::SeqCst);
    let store = Store::<u64>::open("store", &device.options()).unwrap();
    rest.iter().for_each(|record| insert(&store, record).unwrap());
    assert!(store.records().collect::<Result<Vec<_>, _>>().unwrap() == sorted(&records));
}

#[test]
fn what_is_called_a_duplicate_is_durable() {
    for durability in [Durability::SyncData, Durability::SyncAll] {
        for seals in [false, true] {
            let device = Device::default();
            let store = store_on(&device);
            store.insert(0b1111, 1, Durability::Buffered).unwrap();
            if seals {
                // Another log: the first one has ended.
                store.flush().unwrap();
                store.insert(0xff00, 2, Durability::Buffered).unwrap();
            }
            let seen = store.insert_if_new(0b0111, 7, 3, durability).unwrap();
            assert!(!seen.inserted && seen.number.is_none() && seen.duplicates[0].id == 1);
            drop(store);
            device.memory.crash();
            let store = Store::<u64>::open("store", &device.options()).unwrap();
            assert_eq!(store.get(0b1111).unwrap().len(), 1, "{durability:?}, sealed {seals}");
        }
    }
}

#[test]
fn what_needs_an_id_is_refused_without_one() {
    let device = Device::default();
    let store = Store::<u64>::create("store", &Parameters::new(3).with_id_index(true), &device.options()).unwrap();
    let kinds = [
        store.replace(1, IdRef::None, Durability::Buffered).map(|_| ()),
        store.remove_id(IdRef::None, Durability::Buffered).map(|_| ()),
        store.get_id(IdRef::None).map(|_| ()),
    ];
    assert!(kinds.iter().all(|kind| kind.as_ref().unwrap_err().kind() == ErrorKind::InvalidInput), "{kinds:?}");
    assert_eq!(store.records().count(), 0);
    // There is no background work, so there is nothing to wait for.
    (0..5).for_each(|n| {
        store.insert(n, n, Durability::Buffered).unwrap();
        store.flush().unwrap();
    });
    store.wait_for_maintenance().unwrap();
    Store::<u64>::open_read_only("store", &device.options()).unwrap().wait_for_maintenance().unwrap();
    // A store that numbers its records returns the number of a new one.
    let store = Store::<u64>::create("own", &Parameters::new(3), &device.options()).unwrap();
    let numbers: Vec<_> =
        [0, u64::MAX].map(|one| store.insert_if_new(one, IdRef::None, 3, Durability::Buffered).unwrap().number).into();
    assert_eq!(numbers, [Some(0), Some(1)]);
}

/// The first log of the store, and the offsets of its frames.
fn frames(device: &Device) -> (PathBuf, Vec<u64>) {
    let log = inspect::logs("store", &device.options()).unwrap().remove(0);
    let mut view = inspect::LogView::open(&log, &device.options()).unwrap();
    let frames = std::iter::from_fn(|| view.next_frame::<u64>().unwrap().map(|frame| frame.offset)).collect();
    (log, frames)
}

#[test]
fn the_end_of_a_log_that_cannot_be_read_is_lost_and_said_to_be() {
    let device = Device::default();
    let store = store_on(&device);
    // More bytes than a repair gives up at a time.
    let batch = |n: u64| (0..500).map(move |id| (n << 32 | id, n * 500 + id));
    (0..3).for_each(|n| store.insert_many(batch(n), Durability::SyncData).unwrap());
    drop(store);
    let (log, frames) = frames(&device);
    let before = device.memory.bytes(&log).unwrap();
    *device.told.bad.lock().unwrap() = Some((log.clone(), frames[2] + 7000..frames[2] + 7008));
    assert_eq!(Store::<u64>::open("store", &device.options()).unwrap_err().kind(), ErrorKind::Io);
    let plan = plan("store", &device.options()).unwrap();
    assert!(!plan.is_sound() && !plan.saves_everything(), "{plan:?}");
    assert!(matches!(plan.losses[..], [ref loss] if loss.what == Lost::Batches { first: 3, last: None }), "{plan:?}");
    let report = repair("store", &device.options()).unwrap();
    assert_eq!((&report.losses, &report.kept_aside), (&plan.losses, &plan.kept_aside));
    assert!(device.memory.bytes(&report.kept_aside[0]).unwrap() == before, "the damaged log stays");
    *device.told.bad.lock().unwrap() = None;
    assert_eq!(Store::<u64>::open("store", &device.options()).unwrap().records().count(), 1000);
}

#[test]
fn a_log_that_has_changed_since_it_was_read_is_left_alone() {
    let device = Device::default();
    let store = store_on(&device);
    (0..3).for_each(|n| store.insert(n, n, Durability::SyncData).unwrap());
    drop(store);
    let (log, frames) = frames(&device);
    let store = Store::<u64>::open("store", &device.options()).unwrap();
    let mut bytes = device.memory.bytes(&log).unwrap();
    bytes[frames[1] as usize + 30] ^= 1;
    device.memory.set_bytes(&log, bytes.clone());
    let error = store.insert(7, 7, Durability::SyncData).unwrap_err();
    assert!(error.kind() == ErrorKind::Damaged && error.path() == Some(&*log), "{error}");
    assert_eq!(store.insert(8, 8, Durability::Buffered).unwrap_err().kind(), ErrorKind::Poisoned);
    assert!(device.memory.bytes(&log).unwrap() == bytes);
}

#[test]
fn that_something_is_not_there_is_as_durable_as_anything() {
    let device = Device::default();
    let store = store_on(&device);
    store.insert(1, 1, Durability::SyncData).unwrap();
    store.remove(1, 1, Durability::Buffered).unwrap();
    drop(store);
    let store = Store::<u64>::open("store", &device.options()).unwrap();
    assert!(!store.remove(1, 1, Durability::SyncData).unwrap());
    drop(store);
    device.memory.crash();
    assert_eq!(Store::<u64>::open("store", &device.options()).unwrap().records().count(), 0);
}

#[test]
fn when_nobody_knows_which_manifest_is_there_nothing_is_replaced_or_removed() {
    let device = Device::default();
    drop(store_on(&device));
    let options = device.options().with_maintenance(Maintenance::Background).with_memtable_memory(20_000);
    let store = Store::<u64>::open("store", &options).unwrap();
    let mut random = Random(3);
    let mut insert = |n: u64| store.insert(random.next(), n, Durability::Buffered);
    (0..5000).for_each(|n| insert(n).unwrap());
    device.told.fails_to_sync_names.store(true, Ordering::SeqCst);
    let error = (5000..100_000).find_map(|n| insert(n).err()).unwrap();
    assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::Poisoned), "{error}");
    device.told.fails_to_sync_names.store(false, Ordering::SeqCst);
    let manifest = || device.memory.bytes(Path::new("store/MANIFEST")).unwrap();
    let (before, started) = (manifest(), std::time::Instant::now());
    while started.elapsed() < Duration::from_millis(300) {
        assert!(manifest() == before, "another manifest after a failure");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(store.wait_for_maintenance().unwrap_err().kind(), ErrorKind::Poisoned);
    drop(store);
    // With either manifest all files exist.
    device.memory.crash();
    let store = Store::<u64>::open("store", &device.options()).unwrap();
    assert!(store.records().all(|record| record.is_ok()));
}
