//! A background failure that does not affect acknowledged records is no reason to refuse writes.

use crate::hooked::{EIO, Hooked, Op};
use crate::points::every;
use crate::support::*;
use fpstore::admin::verify;
use fpstore::env::{Env, Failing, Memory};
use fpstore::{Durability, ErrorKind, Maintenance, Options, Parameters, ReadMode, Record, Records, Store, inspect};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;
const EFBIG: i32 = 27;
const EMFILE: i32 = 24;

/// Selects the failing operations.
type Which = fn(Op, &Path) -> bool;

/// The currently failing operations, and their error.
#[derive(Clone, Default)]
struct Faults {
    errno: Arc<AtomicI32>,
    which: Arc<Mutex<Option<Which>>>,
    met: Arc<AtomicU64>,
}

impl Faults {
    fn begin(&self, errno: i32, which: Which) {
        self.errno.store(errno, Ordering::SeqCst);
        *self.which.lock().unwrap() = Some(which);
    }

    fn end(&self) {
        *self.which.lock().unwrap() = None;
    }

    fn options(&self, memory: &Memory, maintenance: Maintenance) -> Options {
        let faults = self.clone();
        let env = Hooked::behind(Arc::new(memory.clone()), move |op, path| {
            let which = *faults.which.lock().unwrap();
            if which.is_some_and(|which| which(op, path)) {
                faults.met.fetch_add(1, Ordering::SeqCst);
                return Err(io::Error::from_raw_os_error(faults.errno.load(Ordering::SeqCst)));
            }
            Ok(())
        });
        let options = Options::new().with_env(env).with_read_mode(ReadMode::Pread).with_memtable_memory(0);
        options.with_maintenance(maintenance)
    }
}

fn is_segment(path: &Path) -> bool {
    path.to_string_lossy().contains(".segment")
}

fn until(what: &str, done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Inserts records with these numbers.
fn insert(store: &Store, numbers: std::ops::Range<u64>) {
    numbers.for_each(|n| store.insert(Random(n).next(), n, Durability::Buffered).unwrap());
}

#[test]
fn a_bad_page_in_a_segment_that_is_due_stops_merging_alone() {
    for maintenance in [Maintenance::Background, Maintenance::Foreground] {
        let memory = Memory::default();
        let plain = Faults::default().options(&memory, Maintenance::Manual);
        let store = Store::<u64>::create("store", &Parameters::new(3), &plain).unwrap();
        for round in 0..4 {
            insert(&store, round * 100..(round + 1) * 100);
            store.flush().unwrap();
        }
        drop(store);
        // A page of the second run has changed.
        let name = inspect::manifest("store", &plain).unwrap().runs[1].segments[0].1.name.clone();
        let path = Path::new("store").join(&name);
        let mut bytes = memory.bytes(&path).unwrap();
        bytes[100] ^= 1;
        memory.set_bytes(&path, bytes);
        memory.sync_file(&path).unwrap();
        let options = Faults::default().options(&memory, maintenance);
        let store = Store::<u64>::open("store", &options).unwrap();
        insert(&store, 1000..1200);
        until("merging is not tried", || store.health().compacting.is_some());
        let health = store.health();
        let trouble = health.compacting.unwrap();
        assert!(health.poisoned.is_none() && trouble.error.contains(&name), "{trouble:?}");
        // The store is writable, and merges runs after the damaged one.
        insert(&store, 2000..12_000);
        store.flush().unwrap();
        store.wait_for_maintenance().unwrap();
        let runs = store.statistics().runs;
        assert!(runs < 40, "{runs} runs, {maintenance:?}");
        assert!(store.compact().is_err() && store.insert(1, 1, Durability::SyncData).is_ok());
        drop(store);
        assert_eq!(verify("store", &plain).unwrap().damages.len(), 1);
    }
}

#[test]
fn no_error_of_merging_or_flushing_poisons_and_both_go_on_when_it_ends() {
    let which: [(&str, Which); 3] = [
        ("create", |op, path| op == Op::Create && is_segment(path)),
        ("write", |op, path| op == Op::Write && is_segment(path)),
        ("read", |op, path| matches!(op, Op::Open | Op::Read) && is_segment(path)),
    ];
    let ways = which.map(|way| [(way, Maintenance::Background), (way, Maintenance::Foreground)]).concat();
    for (number, errno) in [ENOSPC, EDQUOT, EFBIG, EMFILE, EIO].into_iter().enumerate() {
        // A short run takes one way for each error.
        for ((name, which), maintenance) in every(6, ways.iter().copied().cycle().skip(number).take(6)) {
            let (memory, faults) = (Memory::default(), Faults::default());
            let options = faults.options(&memory, maintenance);
            let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
            insert(&store, 0..300);
            store.flush().unwrap();
            store.wait_for_maintenance().unwrap();
            faults.begin(errno, which);
            // The store accepts as much as fits in memory and refuses more, without being poisoned.
            let refused = (1000..3000).find_map(|n| {
                let error = store.insert(Random(n).next(), n, Durability::SyncData).err()?;
                Some((n, error))
            });
            let label = format!("{errno} {name} {maintenance:?}");
            assert!(store.health().poisoned.is_none(), "{label}: {:?}", store.health());
            if let Some((_, error)) = &refused {
                assert!(error.kind() == ErrorKind::Io && error.path().is_some(), "{label}: {error}");
                assert!(error.to_string().contains("nothing that was acknowledged is lost"), "{label}: {error}");
                assert!(store.health().flushing.is_some(), "{label}");
            }
            assert!(faults.met.load(Ordering::SeqCst) > 0, "{label}");
            faults.end();
            let end = refused.map_or(3000, |refused| refused.0);
            until(&label, || store.insert(Random(1 << 40).next(), 1 << 40, Durability::SyncData).is_ok());
            until(&label, || store.flush().is_ok() && store.compact().is_ok() && store.health().is_good());
            assert_eq!(store.records().count() as u64, 300 + (end - 1000) + 1, "{label}");
            assert_eq!(store.statistics().records, 300 + (end - 1000) + 1, "{label}");
            drop(store);
            assert!(verify("store", &options).unwrap().damages.is_empty(), "{label}");
        }
    }
}

#[test]
fn a_log_that_cannot_grow_ahead_takes_what_fits() {
    let (memory, faults) = (Memory::default(), Faults::default());
    let options = faults.options(&memory, Maintenance::Manual).with_memtable_memory(1 << 20);
    let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
    faults.begin(ENOSPC, |op, _| op == Op::Allocate);
    for n in 0..3000 {
        store.insert(Random(n).next(), n, Durability::SyncData).unwrap();
    }
    assert!(faults.met.load(Ordering::SeqCst) > 0);
    drop(store);
    memory.crash();
    assert_eq!(Store::<u64>::open("store", &options).unwrap().records().count(), 3000);
}

#[test]
fn an_append_that_fails_is_taken_back_and_the_next_one_goes_on() {
    for errno in [ENOSPC, EDQUOT, EFBIG, EIO] {
        let (memory, faults) = (Memory::default(), Faults::default());
        let options = faults.options(&memory, Maintenance::Manual).with_memtable_memory(1 << 20);
        let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
        for n in 0..300u64 {
            if n % 3 == 1 {
                faults.begin(errno, |op, _| op == Op::Append);
                let error = store.insert(Random(n).next(), n, Durability::SyncData).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Io);
                faults.end();
            } else {
                store.insert(Random(n).next(), n, Durability::SyncData).unwrap();
            }
            assert!(store.health().is_good());
        }
        drop(store);
        memory.crash();
        let store = Store::<u64>::open("store", &options).unwrap();
        assert!(store.recovery().torn.is_empty(), "{:?}", store.recovery());
        assert_eq!(store.records().count(), 200);
        // An append that can be neither completed nor undone is in doubt.
        store.insert(1, 1, Durability::Buffered).unwrap();
        faults.begin(errno, |op, _| matches!(op, Op::Append | Op::Cut));
        store.insert(1, 1, Durability::Buffered).unwrap_err();
        faults.end();
        assert_eq!(store.insert(1, 1, Durability::Buffered).unwrap_err().kind(), ErrorKind::Poisoned);
    }
}

#[test]
fn an_append_that_was_taken_back_does_not_come_between_two_logs() {
    for seed in 0..200 {
        let (memory, faults) = (Memory::default(), Faults::default());
        let options = faults.options(&memory, Maintenance::Manual).with_memtable_memory(1 << 20);
        let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
        let mut random = Random(seed);
        store.insert(1, 1, Durability::SyncAll).unwrap();
        if seed % 2 == 0 {
            // Another log.
            store.flush().unwrap();
            store.insert(5, 5, Durability::SyncAll).unwrap();
        }
        faults.begin(EIO, |op, _| op == Op::Append);
        store.insert(2, 2, Durability::SyncData).unwrap_err();
        faults.end();
        store.flush().unwrap();
        store.insert(3, 3, Durability::SyncData).unwrap();
        drop(store);
        memory.crash_keeping(|| random.below(2) == 0);
        let store = Store::<u64>::open("store", &options).unwrap();
        assert!(store.get(1).unwrap().len() == 1 && store.get(3).unwrap().len() == 1, "{seed}");
    }
}

#[test]
fn a_load_after_an_append_that_failed_takes_its_number_and_later_writes_others() {
    let (memory, faults) = (Memory::default(), Faults::default());
    let options = faults.options(&memory, Maintenance::Manual);
    let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
    for (number, op) in (0..).zip([Op::CreateLog, Op::Append]) {
        let which: Which = if op == Op::Append { |op, _| op == Op::Append } else { |op, _| op == Op::CreateLog };
        faults.begin(ENOSPC, which);
        store.insert(1, 1, Durability::Buffered).unwrap_err();
        faults.end();
        store.bulk_load(Records::WithIds(vec![Record::new(2, 10 + number)])).unwrap();
        store.insert(3, 20 + number, Durability::Buffered).unwrap();
        store.flush().unwrap();
        store.insert(4, 30 + number, Durability::Buffered).unwrap();
        assert_eq!(store.statistics().records, 3 * (number + 1));
    }
    drop(store);
    assert_eq!(Store::<u64>::open("store", &options).unwrap().records().count(), 6);
}

#[test]
fn a_log_that_cannot_be_made_is_tried_again() {
    let (memory, faults) = (Memory::default(), Faults::default());
    let options = faults.options(&memory, Maintenance::Manual);
    let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
    insert(&store, 0..10);
    drop(store);
    for errno in [ENOSPC, EDQUOT, EMFILE, EIO] {
        let store = Store::<u64>::open("store", &options).unwrap();
        let before = store.records().count() as u64;
        // First the writer places the logs of the process before again, then a log of its own.
        let which: [Which; 3] = [
            |op, _| op == Op::Create,
            |op, _| op == Op::CreateLog,
            |op, path| op == Op::Rename && path.extension().is_some_and(|end| end == "wal"),
        ];
        for which in which {
            faults.begin(errno, which);
            let error = store.insert(before, before, Durability::SyncData).unwrap_err();
            assert!(error.kind() == ErrorKind::Io && store.health().is_good(), "{errno}: {error}");
            faults.end();
        }
        store.insert(before, before, Durability::SyncData).unwrap();
        drop(store);
        memory.crash();
        let store = Store::<u64>::open("store", &options).unwrap();
        assert_eq!(store.records().count() as u64, before + 1, "{errno}");
    }
}

#[test]
fn a_manifest_that_cannot_be_written_leaves_the_old_one_and_no_doubt() {
    for errno in [ENOSPC, EDQUOT, EFBIG, EMFILE] {
        let (memory, faults) = (Memory::default(), Faults::default());
        let options = faults.options(&memory, Maintenance::Manual);
        let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
        insert(&store, 0..50);
        // There is no free descriptor, so reading the existing manifest fails, too.
        faults.begin(errno, |op, path| {
            matches!(op, Op::Create | Op::Open) && path.to_string_lossy().contains("MANIFEST")
        });
        assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::Io);
        faults.end();
        assert!(store.health().poisoned.is_none());
        insert(&store, 50..60);
        store.flush().unwrap();
        assert!(store.health().is_good());
        drop(store);
        memory.crash();
        assert_eq!(Store::<u64>::open("store", &options).unwrap().records().count(), 60);
    }
}

#[test]
fn an_estimate_of_room_poisons_nothing_in_the_foreground() {
    let failing = Failing::new(Arc::new(Memory::default()), 0..0).with_free_bytes(1);
    let env: Arc<dyn Env> = Arc::new(failing);
    let options = Options::new().with_env(env).with_maintenance(Maintenance::Foreground).with_memtable_memory(0);
    let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
    insert(&store, 0..3000);
    store.flush().unwrap();
    let health = store.health();
    assert!(health.poisoned.is_none() && health.compacting.is_some_and(|trouble| trouble.error.contains("are free")));
    assert_eq!(store.records().count(), 3000);
}

#[test]
fn a_sync_from_before_an_append_was_taken_back_does_not_make_that_durable() {
    let (stage, syncs) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let env = {
        let (stage, syncs) = (Arc::clone(&stage), Arc::clone(&syncs));
        Hooked::behind(Arc::new(Memory::default()), move |op, _| {
            match op {
                Op::Sync if stage.compare_exchange(1, 2, Ordering::SeqCst, Ordering::SeqCst).is_ok() => {
                    until("the append fails", || stage.load(Ordering::SeqCst) == 3);
                }
                Op::Sync => _ = syncs.fetch_add(1, Ordering::SeqCst),
                Op::Append if stage.load(Ordering::SeqCst) == 2 => return Err(io::Error::from_raw_os_error(ENOSPC)),
                _ => {}
            }
            Ok(())
        })
    };
    let options = Options::new().with_env(env).with_read_mode(ReadMode::Pread).with_maintenance(Maintenance::Manual);
    let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
    store.insert(1, 1, Durability::Buffered).unwrap();
    stage.store(1, Ordering::SeqCst);
    std::thread::scope(|scope| {
        scope.spawn(|| store.insert(2, 2, Durability::SyncData).unwrap());
        until("the sync begins", || stage.load(Ordering::SeqCst) == 2);
        store.insert(3, 3, Durability::Buffered).unwrap_err();
        stage.store(3, Ordering::SeqCst);
    });
    let before = syncs.load(Ordering::SeqCst);
    // The first one makes durable that the bytes are gone.
    (0..2).for_each(|_| store.sync(Durability::SyncData).unwrap());
    assert_eq!(syncs.load(Ordering::SeqCst), before + 1);
}
