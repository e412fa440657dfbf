//! Bulk loads, bulk removals, compactions, and writes, each beside the others.

use crate::hooked::{Hooked, Op};
use crate::support::*;
use fpstore::env::{Env, Memory};
use fpstore::{Durability, Id, IdKind, Maintenance, Options, Parameters, ReadMode, Record, Records, Store, inspect};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

const BUFFERED: Durability = Durability::Buffered;

/// Runs some work on the store once, within another operation.
#[derive(Clone, Default)]
struct Midst {
    store: Arc<OnceLock<Weak<Store>>>,
    is_armed: Arc<AtomicBool>,
}

impl Midst {
    /// A store, and the work to run on it when it next creates a segment while armed.
    fn store(&self, parameters: &Parameters, work: fn(&Store)) -> Arc<Store> {
        let midst = self.clone();
        let env = Hooked::behind(Arc::new(Memory::default()), move |op, path| {
            let is_segment = op == Op::Create && path.to_string_lossy().contains(".segment");
            if is_segment && midst.is_armed.swap(false, Ordering::SeqCst) {
                let store = midst.store.get().and_then(Weak::upgrade).unwrap();
                // The current call may hold threads of its own.
                std::thread::scope(|scope| scope.spawn(|| work(&store)).join().unwrap());
            }
            Ok(())
        });
        let options =
            Options::new().with_env(env).with_read_mode(ReadMode::Pread).with_maintenance(Maintenance::Manual);
        let store = Arc::new(Store::create("store", parameters, &options).unwrap());
        self.store.set(Arc::downgrade(&store)).unwrap();
        store
    }

    /// Call this when there is nothing to flush.
    fn arm(&self) {
        self.store.get().and_then(Weak::upgrade).unwrap().flush().unwrap();
        self.is_armed.store(true, Ordering::SeqCst);
    }
}

fn records(store: &Store) -> Vec<(u64, u64)> {
    let pair = |record: Record| (record.fingerprint, record.id.number().unwrap_or(0));
    store.records().map(|record| pair(record.unwrap())).collect()
}

fn check_count(store: &Store, expected: &[(u64, u64)]) {
    assert_eq!(records(store), expected);
    assert_eq!(store.statistics().records, expected.len() as u64);
    store.flush().unwrap();
    assert_eq!(store.statistics().records, expected.len() as u64);
    store.compact().unwrap();
    assert_eq!((records(store), store.statistics().records), (expected.to_vec(), expected.len() as u64));
}

#[test]
fn which_records_a_removal_removes_is_decided_when_it_begins() {
    let midst = Midst::default();
    let store = midst.store(&Parameters::new(3), |store| {
        store.insert(0xb, 2, BUFFERED).unwrap();
        store.insert(0xa, 1, BUFFERED).unwrap();
        store.remove(0xc, 3, BUFFERED).unwrap();
        store.remove(0xd, 4, BUFFERED).unwrap();
        store.insert(0xd, 4, BUFFERED).unwrap();
        // In another run.
        store.flush().unwrap();
        store.insert(0xe, 5, BUFFERED).unwrap();
    });
    for (fingerprint, id) in [(0xa, 1), (0xc, 3), (0xd, 4), (0xf, 6)] {
        store.insert(fingerprint, id, BUFFERED).unwrap();
    }
    midst.arm();
    let given =
        [(0xa, 1), (0xb, 2), (0xc, 3), (0xd, 4), (0xe, 5)].map(|(fingerprint, id)| Record::new(fingerprint, id));
    let report = store.bulk_remove(Records::WithIds(given.into())).unwrap();
    assert!(!midst.is_armed.load(Ordering::SeqCst));
    // The existing ones: a, c and d.
    assert_eq!((report.records, report.removed, report.left), (5, 3, 3));
    check_count(&store, &[(0xb, 2), (0xe, 5), (0xf, 6)]);
}

#[test]
fn what_was_merged_beside_a_removal_is_counted_all_the_same() {
    let midst = Midst::default();
    let store = midst.store(&Parameters::new(3), |store| {
        store.remove(0xa, 1, BUFFERED).unwrap();
        store.flush().unwrap();
        store.compact().unwrap();
    });
    store.insert(0xa, 1, BUFFERED).unwrap();
    store.insert(0xb, 2, BUFFERED).unwrap();
    midst.arm();
    store.bulk_remove(Records::WithIds(vec![Record::new(0xa, 1)])).unwrap();
    check_count(&store, &[(0xb, 2)]);
}

#[test]
fn which_records_of_a_load_are_new_is_decided_when_it_begins() {
    let midst = Midst::default();
    let store = midst.store(&Parameters::new(3), |store| {
        store.remove(0xa, 1, BUFFERED).unwrap();
        store.insert(0xc, 3, BUFFERED).unwrap();
        store.flush().unwrap();
        store.insert(0xd, 4, BUFFERED).unwrap();
        store.insert(0xe, 5, BUFFERED).unwrap();
        store.remove(0xe, 5, BUFFERED).unwrap();
    });
    store.insert(0xa, 1, BUFFERED).unwrap();
    midst.arm();
    let given =
        [(0xa, 1), (0xb, 2), (0xc, 3), (0xd, 4), (0xe, 5)].map(|(fingerprint, id)| Record::new(fingerprint, id));
    let report = store.bulk_load(Records::WithIds(given.into())).unwrap();
    assert_eq!((report.added(), report.already_present), (4, 1));
    check_count(&store, &[(0xb, 2), (0xc, 3), (0xd, 4), (0xe, 5)]);
}

#[test]
fn a_load_with_compaction_beside_writes_loses_none_of_them() {
    let midst = Midst::default();
    let store = midst.store(&Parameters::new(3), |store| {
        store.insert(0xb, 2, BUFFERED).unwrap();
        store.remove(0xa, 1, BUFFERED).unwrap();
    });
    store.insert(0xa, 1, BUFFERED).unwrap();
    store.insert(0xc, 3, BUFFERED).unwrap();
    midst.arm();
    let (_, merged) = store.bulk_load_compact(Records::WithIds(vec![Record::new(0xd, 4)])).unwrap();
    assert!(merged && store.statistics().runs == 1);
    check_count(&store, &[(0xb, 2), (0xc, 3), (0xd, 4)]);
}

#[test]
fn counted_records_are_counted_beside_loads_and_removals_too() {
    let midst = Midst::default();
    let store = midst.store(&Parameters::new(3).with_ids(IdKind::None), |store| {
        (0..3).for_each(|_| store.insert(7, fpstore::IdRef::None, BUFFERED).unwrap());
    });
    for _ in 0..2 {
        store.insert(7, fpstore::IdRef::None, BUFFERED).unwrap();
    }
    midst.arm();
    assert_eq!(store.bulk_remove(Records::Numbered(vec![7; 4])).unwrap().removed, 2);
    assert_eq!(store.get(7).unwrap(), [Id::Count(3)]);
    midst.arm();
    store.bulk_load(Records::Numbered(vec![7, 8])).unwrap();
    assert_eq!((store.get(7).unwrap(), store.statistics().records), (vec![Id::Count(7)], 8));
}

/// Blocks writes to the output of a compaction.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn set(&self, closed: bool) {
        *self.0.0.lock().unwrap() = closed;
        self.0.1.notify_all();
    }

    fn options(&self) -> Options {
        let gate = self.clone();
        let env = Hooked::behind(Arc::new(Memory::default()), move |op, path| {
            let merges = || std::thread::current().name().is_some_and(|name| name.starts_with("fpstore compact"));
            if op == Op::Write && path.to_string_lossy().ends_with(".segment.tmp") && merges() {
                let closed = gate.0.0.lock().unwrap();
                drop(gate.0.1.wait_while(closed, |closed| *closed).unwrap());
            }
            Ok(())
        });
        Options::new().with_env(env).with_read_mode(ReadMode::Pread).with_memtable_memory(0)
    }
}

fn wait_for(what: &str, done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn nothing_waits_for_a_merge_in_the_background() {
    let gate = Gate::default();
    let store = Arc::new(Store::<u64>::create("store", &Parameters::new(3), &gate.options()).unwrap());
    gate.set(true);
    for n in 0..4 {
        store.insert(Random(n).next(), n, BUFFERED).unwrap();
        store.flush().unwrap();
    }
    // Four runs of the same size are due; the compaction is blocked.
    let (done, is_done) = std::sync::mpsc::channel();
    let writer = Arc::clone(&store);
    std::thread::spawn(move || {
        writer.bulk_load(Records::WithIds(vec![Record::new(1, 100)])).unwrap();
        writer.bulk_remove(Records::WithIds(vec![Record::new(1, 100), Record::new(Random(0).next(), 0)])).unwrap();
        writer.insert(2, 200, Durability::SyncData).unwrap();
        writer.flush().unwrap();
        done.send(()).unwrap();
    });
    let waited = is_done.recv_timeout(Duration::from_secs(20));
    let runs = store.statistics().runs;
    gate.set(false);
    waited.expect("a write waits for a merge");
    assert!(runs >= 6, "{runs}");
    store.wait_for_maintenance().unwrap();
    assert_eq!(store.records().count(), 4);
}

#[test]
fn a_compaction_ends_although_others_go_on_writing() {
    let (number, store) = (Arc::new(AtomicU64::new(10)), Arc::new(OnceLock::<Weak<Store>>::new()));
    let env = {
        let (number, store) = (Arc::clone(&number), Arc::clone(&store));
        let flushing = AtomicBool::new(false);
        Hooked::behind(Arc::new(Memory::default()), move |op, path| {
            // Whenever a merge runs, another run appears; its segment is not a merged one.
            let is_segment = path.to_string_lossy().ends_with(".segment.tmp");
            let store = store.get().and_then(Weak::upgrade).filter(|_| op == Op::Create && is_segment);
            if let Some(store) = store
                && !flushing.swap(true, Ordering::SeqCst)
            {
                let n = number.fetch_add(1, Ordering::SeqCst);
                assert!(n < 100, "it merges for ever");
                store.insert(Random(n).next(), n, BUFFERED).unwrap();
                store.flush().unwrap();
                flushing.store(false, Ordering::SeqCst);
            }
            Ok(())
        })
    };
    let options = Options::new().with_env(env).with_maintenance(Maintenance::Manual);
    let created = Arc::new(Store::<u64>::create("store", &Parameters::new(3), &options).unwrap());
    for n in 0..3 {
        created.insert(Random(n).next(), n, BUFFERED).unwrap();
        created.flush().unwrap();
    }
    store.set(Arc::downgrade(&created)).unwrap();
    assert!(created.compact().unwrap());
    assert_eq!((number.load(Ordering::SeqCst), created.statistics().runs), (11, 2));
    assert_eq!(created.records().count(), 4);
}

/// The maximum number of runs that the policy promises for these sizes, and one run being flushed.
fn promised(options: &Options) -> (u64, u64) {
    let manifest = inspect::manifest(Path::new("store"), options).unwrap();
    let bytes = |run: &inspect::RunView| run.segments.iter().map(|segment| segment.1.file_length).sum::<u64>();
    let sizes: Vec<u64> = manifest.runs.iter().map(bytes).collect();
    let (all, least) = (sizes.iter().sum::<u64>(), sizes.iter().min().copied().unwrap_or(1));
    (sizes.len() as u64, 4 + u64::from((all / least).max(1).ilog2()) + 1)
}

#[test]
fn runs_do_not_pile_up_under_any_load() {
    let gate = Gate::default();
    let options = gate.options();
    let store = Arc::new(Store::<u64>::create("store", &Parameters::new(3), &options).unwrap());
    gate.set(true);
    let (written, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let writer = {
        let (store, written, stop) = (Arc::clone(&store), Arc::clone(&written), Arc::clone(&stop));
        std::thread::spawn(move || {
            for n in 0.. {
                store.insert(Random(n).next(), n, BUFFERED).unwrap();
                written.store(n + 1, Ordering::SeqCst);
                if stop.load(Ordering::SeqCst) {
                    return;
                }
            }
        })
    };
    // Writers stop when memory is full too.
    let mut before = u64::MAX;
    wait_for("writers are never stopped", || written.load(Ordering::SeqCst) > 300);
    while std::mem::replace(&mut before, written.load(Ordering::SeqCst)) != before {
        std::thread::sleep(Duration::from_millis(500));
        let (runs, most) = promised(&options);
        assert!(runs <= most, "{runs} runs of {most}");
    }
    let pressure = store.statistics().pressure;
    assert!(pressure.slowed > 0 && pressure.runs_behind > 0 && pressure.bytes_behind > 0, "{pressure:?}");
    gate.set(false);
    wait_for("writers are stopped for ever", || written.load(Ordering::SeqCst) > before + 2000);
    let (runs, most) = promised(&options);
    assert!(runs <= most, "{runs} runs of {most}");
    stop.store(true, Ordering::SeqCst);
    writer.join().unwrap();
    let pressure = store.statistics().pressure;
    assert!(pressure.stopped > 0 && pressure.stopped_time >= Duration::from_millis(400), "{pressure:?}");
    store.wait_for_maintenance().unwrap();
    assert_eq!(store.records().count() as u64, written.load(Ordering::SeqCst));
}

#[test]
fn the_files_of_merged_runs_go_soon() {
    let memory = Memory::default();
    let env = Hooked::behind(Arc::new(memory.clone()), |op, path| {
        // Meanwhile the compaction thread learns of the new runs.
        if op == Op::Remove && path.to_string_lossy().ends_with(".wal") {
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    });
    let options = Options::new().with_env(env).with_read_mode(ReadMode::Pread);
    let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
    store.insert(1, 1, BUFFERED).unwrap();
    store.bulk_load_compact(Records::WithIds(vec![Record::new(2, 2)])).unwrap();
    let segments = || {
        let names = memory.list(Path::new("store")).unwrap();
        names.iter().filter(|name| name.ends_with(".segment")).count()
    };
    let started = Instant::now();
    while segments() > 1 {
        assert!(started.elapsed() < Duration::from_secs(10), "{} segments are left", segments());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A store whose first load begins a second one and fails. Then the second one goes on, and may fail. Returns whether
/// it did not.
fn two_loads(second_fails: bool, at_once: bool) -> (Arc<Store>, bool) {
    let (store, second) = (Arc::new(OnceLock::<Weak<Store>>::new()), Arc::new(Mutex::new(None)));
    let (segments, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let load = |store: &Store, number| store.bulk_load(Records::WithIds(vec![Record::new(number, number)])).is_ok();
    let env = {
        let (store, second, segments, ended) = (store.clone(), second.clone(), segments.clone(), ended.clone());
        Hooked::behind(Arc::new(Memory::default()), move |op, path| {
            if op != Op::Create || !path.to_string_lossy().contains(".segment") {
                return Ok(());
            }
            let fails = match segments.fetch_add(1, Ordering::SeqCst) {
                0 => {
                    let store = store.get().and_then(Weak::upgrade).unwrap();
                    let thread = std::thread::spawn(move || load(&store, 2));
                    wait_for("the second load", || segments.load(Ordering::SeqCst) == 2);
                    wait_for("its end", || !at_once || thread.is_finished());
                    *second.lock().unwrap() = Some(thread);
                    true
                }
                _ => {
                    wait_for("the first load", || at_once || ended.load(Ordering::SeqCst));
                    second_fails
                }
            };
            if fails { Err(std::io::Error::other("a test")) } else { Ok(()) }
        })
    };
    let options = Options::new().with_env(env).with_read_mode(ReadMode::Pread).with_maintenance(Maintenance::Manual);
    let opened = Arc::new(Store::create("store", &Parameters::new(3), &options).unwrap());
    store.set(Arc::downgrade(&opened)).unwrap();
    assert!(!load(&opened, 1));
    ended.store(true, Ordering::SeqCst);
    let second = second.lock().unwrap().take().unwrap();
    (opened, second.join().unwrap())
}

#[test]
fn a_failed_load_undoes_nothing_that_another_load_needs() {
    let (store, loaded) = two_loads(false, false);
    assert!(loaded && store.insert_numbered(3, BUFFERED).is_err());
    assert_eq!(records(&store), [(2, 2)]);
}

#[test]
fn loads_that_fail_beside_each_other_decide_nothing() {
    for at_once in [true, false] {
        let (store, loaded) = two_loads(true, at_once);
        assert!(!loaded && store.insert_numbered(3, BUFFERED).is_ok());
        assert_eq!(records(&store), [(3, 0)]);
    }
}
