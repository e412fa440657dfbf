//! Concurrency with a writer: other threads that check and write, followers, and backups.

use crate::support::*;
use fpstore::admin::{BackupMode, verify};
use fpstore::env::{Env, Failing, Memory};
use fpstore::{Durability, Maintenance, Options, Parameters, Records, Store};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Small memtables, for frequent flushes and compactions.
fn options() -> Options {
    Options::new().with_memtable_memory(60_000)
}

#[test]
fn of_near_ones_that_many_threads_bring_exactly_one_is_inserted() {
    const THREADS: u64 = 6;
    const FAMILIES: u64 = 1000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = Store::<u64>::create(&path, &Parameters::new(3), &options()).unwrap();
    // Six bits encode each bit of a family's number, so a member, one bit from its centre, is near no member of another
    // family.
    let center = |family: u64| (0..10).fold(0u64, |sum, at| sum | (((family >> at) & 1) * (0x3f << (6 * at))));
    let inserted: Vec<AtomicU64> = (0..FAMILIES).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, inserted) = (&store, &inserted);
            scope.spawn(move || {
                for step in 0..FAMILIES {
                    // All threads work on about the same family.
                    let family = step ^ (thread % 2);
                    let Some(count) = inserted.get(family as usize) else { continue };
                    let own = center(family) ^ (1 << (7 * thread));
                    let seen = store.insert_if_new(own, thread * FAMILIES + family, 3, Durability::Buffered).unwrap();
                    count.fetch_add(u64::from(seen.inserted), Ordering::Relaxed);
                    assert!(seen.inserted == seen.duplicates.is_empty() && seen.duplicates.len() <= 1, "{seen:?}");
                }
            });
        }
    });
    assert!(inserted.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    assert_eq!(store.records().count() as u64, FAMILIES);
}

/// Record number `n` of a sequential writer.
fn fingerprint(n: u64) -> u64 {
    Random(n).next()
}

/// The number of records, which must be exactly the first ones.
fn prefix(store: &Store, label: &str) -> u64 {
    let records: Vec<_> = store.records().map(Result::unwrap).collect();
    let ids: BTreeSet<u64> = records.iter().map(|record| record.id.number().unwrap()).collect();
    assert!(records.iter().all(|record| record.fingerprint == fingerprint(record.id.number().unwrap())), "{label}");
    assert_eq!((ids.len(), ids.last().map_or(0, |last| *last as usize + 1)), (records.len(), records.len()), "{label}");
    records.len() as u64
}

/// Sets a flag when it is dropped.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn readers_and_backups_see_moments_beside_writes_and_merges() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = Store::<u64>::create(&path, &Parameters::new(3), &options()).unwrap();
    let (written, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // The other threads end also if this one fails: otherwise the test would wait for them for ever.
        let ends = Ends(&stop);
        scope.spawn(|| {
            for n in 0.. {
                store.insert(fingerprint(n), n, Durability::Buffered).unwrap();
                written.store(n + 1, Ordering::SeqCst);
                if stop.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        let followers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let follower = Store::<u64>::open_read_only(&path, &options()).unwrap();
                    let (mut last, mut changes) = (0, 0);
                    while !stop.load(Ordering::SeqCst) {
                        let least = written.load(Ordering::SeqCst);
                        changes += u64::from(follower.refresh().unwrap());
                        let now = prefix(&follower, "a reader");
                        assert!(now >= least.max(last), "{now} of at least {least}, before {last}");
                        last = now;
                    }
                    changes
                })
            })
            .collect();
        let mut last = 0;
        for (number, mode) in (0..6).zip([BackupMode::Link, BackupMode::Copy].into_iter().cycle()) {
            let copy = directory.path().join(format!("copy {number}"));
            let least = written.load(Ordering::SeqCst);
            let report = store.backup(&copy, mode).unwrap();
            let opened = Store::<u64>::open(&copy, &options()).unwrap();
            let now = prefix(&opened, "a backup");
            assert!(now >= least.max(last) && report.records == now, "{now} of at least {least}");
            last = now;
            // The backup is an independent store.
            opened.insert(1, u64::MAX, Durability::SyncData).unwrap();
            opened.compact().unwrap();
            drop(opened);
            assert!(verify(&copy, &options()).unwrap().damages.is_empty());
            let started = Instant::now();
            while written.load(Ordering::SeqCst) < least + 3000 {
                assert!(started.elapsed() < Duration::from_secs(60), "the writer has stopped");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        drop(ends);
        assert!(
            followers.into_iter().all(|follower| follower.join().unwrap() > 5),
            "a reader has hardly seen anything"
        );
    });
    store.wait_for_maintenance().unwrap();
    assert_eq!(prefix(&store, "the writer"), written.load(Ordering::SeqCst));
    assert!(store.statistics().written.compacted > 0, "nothing was merged meanwhile");
    assert!(verify(&path, &options()).unwrap().damages.is_empty());
}

#[test]
fn a_snapshot_that_outlives_its_store_takes_nothing_from_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let create = || {
        let loaded = Records::WithIds(numbered(&(0..100).map(fingerprint).collect::<Vec<_>>()));
        Store::<u64>::create_loaded(&path, &Parameters::new(3), &options(), loaded).unwrap().0
    };
    let store = create();
    let snapshot = store.snapshot();
    store.insert(fingerprint(200), 200, Durability::Buffered).unwrap();
    store.compact().unwrap();
    drop(store);
    // The snapshot's segment has the same name as the first segment of any store.
    std::fs::remove_dir_all(&path).unwrap();
    drop(create());
    assert_eq!(snapshot.records().count(), 100);
    drop(snapshot);
    assert!(verify(&path, &options()).unwrap().damages.is_empty());
    assert_eq!(Store::<u64>::open(&path, &options()).unwrap().records().count(), 100);
}

/// Existing records: enough for a merge to take a while.
const LOADED: u64 = 100_000;

#[test]
fn flushes_merges_and_loads_at_the_same_time_end() {
    for maintenance in [Maintenance::Background, Maintenance::Foreground] {
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let shared: Arc<dyn Env> = Arc::new(Memory::default());
            let options = options().with_env(shared).with_maintenance(maintenance);
            let loaded = Records::WithIds(numbered(&(0..LOADED).map(fingerprint).collect::<Vec<_>>()));
            let (store, _) = Store::<u64>::create_loaded("store", &Parameters::new(3), &options, loaded).unwrap();
            let (next, until) = (AtomicU64::new(LOADED), Instant::now() + Duration::from_secs(2));
            let number = || next.fetch_add(1, Ordering::SeqCst);
            let again = |work: &dyn Fn()| {
                while Instant::now() < until {
                    work();
                }
            };
            let insert = || {
                let n = number();
                store.insert(fingerprint(n), n, Durability::Buffered).unwrap();
            };
            let load = || {
                let records: Vec<_> = (0..2000).map(|_| number()).collect();
                let records = records.into_iter().map(|n| fpstore::Record::new(fingerprint(n), n)).collect();
                store.bulk_load(Records::WithIds(records)).unwrap();
            };
            let compacted = || {
                let n = number();
                let record = fpstore::Record::new(fingerprint(n), n);
                store.bulk_load_compact(Records::WithIds(vec![record])).unwrap();
            };
            let works: [&(dyn Fn() + Sync); 7] = [
                &insert,
                &|| store.flush().unwrap(),
                &|| store.flush().unwrap(),
                &|| _ = store.compact().unwrap(),
                &|| _ = store.compact().unwrap(),
                &load,
                &compacted,
            ];
            // A separate pool: in a pool shared with other tests, a waiting thread might execute another of these jobs.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
            std::thread::scope(|scope| {
                let (again, pool) = (&again, &pool);
                works.into_iter().for_each(|work| _ = scope.spawn(move || again(&|| pool.install(work))));
            });
            let all = store.records().count() as u64;
            done.send(all == next.load(Ordering::SeqCst)).unwrap();
        });
        let whole = is_done.recv_timeout(Duration::from_secs(120)).expect("a thread waits for ever");
        assert!(whole, "{maintenance:?}: a record is missing");
    }
}

#[test]
fn a_refresh_sees_everything_that_was_written_before_it() {
    let memory = Memory::default();
    let shared: Arc<dyn Env> = Arc::new(memory.clone());
    let writer = options().with_env(shared).with_maintenance(Maintenance::Manual);
    let store = Store::<u64>::create("store", &Parameters::new(3), &writer).unwrap();
    let failing = Failing::new(Arc::new(memory.clone()), 0..0);
    let follow = |failing: &Failing| {
        Store::<u64>::open_read_only("store", &writer.clone().with_env(Arc::new(failing.clone()))).unwrap()
    };
    store.insert(fingerprint(0), 0, Durability::Buffered).unwrap();
    let opening = failing.clone();
    let follower = follow(&opening);
    let opened = opening.operations();
    // Followers with one failing operation in a refresh, a different one each.
    let unlucky: Vec<_> =
        (0..60).map(|at| follow(&Failing::new(Arc::new(memory.clone()), opened + at..opened + at + 1))).collect();
    let mut written = 1;
    for count in [1, 3, 3000, 1, 5000] {
        (written..written + count).for_each(|n| store.insert(fingerprint(n), n, Durability::Buffered).unwrap());
        written += count;
        assert!(follower.refresh().unwrap());
        assert_eq!(prefix(&follower, "a follower"), written);
        assert!(!follower.refresh().unwrap());
        for (number, unlucky) in unlucky.iter().enumerate() {
            if unlucky.refresh().is_err() {
                unlucky.refresh().unwrap();
            }
            assert_eq!(prefix(unlucky, "an unlucky one"), written, "number {number}");
        }
    }
}
