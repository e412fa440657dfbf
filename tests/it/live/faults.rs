//! Each operation on files fails in turn, alone or with all that follow; and at each of them the power fails, after which any
//! part of what was not synced is there.
//!
//! What was acknowledged is there as far as its durability goes, batches are whole or absent, and queries answer what the model
//! does, at one of the moments that the store may have come back to.

use super::model::Model;
use crate::support::*;
use fpstore::env::{Env, Failing, Memory};
use fpstore::{
    BackupMode, Durability, ErrorKind, Id, IdKind, Maintenance, Options, Parameters, ReadMode, Record, Records, Result,
    Store, WriteBatch, verify,
};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a workload has done, step by step.
struct Done {
    /// What has to be there after each step; the first one is before any.
    models: Vec<Model<u64>>,
    /// The last step that has returned without an error.
    acknowledged: usize,
    /// The last one of those that have promised to survive a power failure.
    durable: usize,
    error: Option<fpstore::Error>,
}

/// One step: changes the model, and does the same to the store.
type Step = fn(&mut Worker, &mut Model<u64>) -> Result<Option<Durability>>;

/// The store that is worked with, and what is random about it.
struct Worker {
    options: Options,
    store: Option<Store<u64>>,
    random: Random,
}

impl Worker {
    fn store(&self) -> &Store<u64> {
        self.store.as_ref().unwrap()
    }

    fn record(&mut self) -> (u64, Id) {
        (families(30, 4, 8)[self.random.below(30) as usize], Id::Number(self.random.below(12)))
    }

    fn batch(&mut self, model: &mut Model<u64>, durability: Durability) -> Result<Option<Durability>> {
        let mut batch = WriteBatch::new();
        for _ in 0..7 {
            let (fingerprint, id) = self.record();
            if self.random.below(4) == 0 {
                batch.remove(fingerprint, &id);
                model.remove(fingerprint, &id);
            } else {
                batch.insert(fingerprint, &id);
                model.insert(fingerprint, &id);
            }
        }
        self.store().write(&batch, durability).map(|_| Some(durability))
    }
}

/// The steps of a workload: all ways to write, and all that goes on beside.
const STEPS: &[Step] = &[
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::SyncData),
    |w, m| {
        let (fingerprint, id) = w.record();
        m.insert(fingerprint, &id);
        w.store().insert(fingerprint, &id, Durability::SyncAll).map(|()| Some(Durability::SyncAll))
    },
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| {
        let (fingerprint, id) = w.record();
        m.remove_id(&id, Some(fingerprint));
        m.insert(fingerprint, &id);
        w.store().replace(&id, fingerprint, Durability::SyncData).map(|_| Some(Durability::SyncData))
    },
    |w, _| w.store().flush().map(|()| Some(Durability::SyncAll)),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| {
        let records: Vec<Record> = (0..15).map(|_| w.record()).map(|(f, id)| Record { fingerprint: f, id }).collect();
        records.iter().for_each(|record| m.insert(record.fingerprint, &record.id));
        w.store().bulk_load(Records::WithIds(records)).map(|_| Some(Durability::SyncAll))
    },
    |w, m| w.batch(m, Durability::SyncData),
    |w, _| {
        w.store = None;
        w.store = Some(Store::open("store", &w.options)?);
        Ok(None)
    },
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| {
        let (fingerprint, id) = w.record();
        if m.near(fingerprint, 3).iter().all(|found| found.id == id && found.distance > 0) {
            m.insert(fingerprint, &id);
        }
        w.store().insert_if_new(fingerprint, &id, 3, Durability::SyncData).map(|_| Some(Durability::SyncData))
    },
    |w, m| {
        let records: Vec<Record> = (0..15).map(|_| w.record()).map(|(f, id)| Record { fingerprint: f, id }).collect();
        records.iter().for_each(|record| _ = m.remove(record.fingerprint, &record.id));
        w.store().bulk_remove(Records::WithIds(records)).map(|_| Some(Durability::SyncAll))
    },
    |w, m| w.batch(m, Durability::SyncData),
    |w, _| w.store().backup(COPY, BackupMode::Link).map(|_| None),
    |w, _| w.store().compact().map(|_| Some(Durability::SyncAll)),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::SyncAll),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::SyncData),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::Buffered),
    |w, m| w.batch(m, Durability::Buffered),
];

/// Where one of the steps makes a copy, and which.
const COPY: &str = "copy";
const COPIED: usize = 15;

/// Who flushes and merges: the writing thread; nobody before the workload does, so that several logs have writes; or threads
/// beside, whose operations come in between as it happens.
const MAINTENANCE: [Maintenance; 3] = [Maintenance::Foreground, Maintenance::Manual, Maintenance::Background];

fn options(env: Arc<dyn Env>, maintenance: Maintenance) -> Options {
    Options::new().with_env(env).with_read_mode(ReadMode::Pread).with_memtable_memory(0).with_maintenance(maintenance)
}

fn parameters() -> Parameters {
    Parameters::new(3).with_id_index(true)
}

/// Works with the store in this environment until something fails.
fn work(env: Arc<dyn Env>, maintenance: Maintenance) -> Done {
    let mut worker = Worker { options: options(env, maintenance), store: None, random: Random(17) };
    let mut done = Done { models: vec![Model::new(IdKind::Number)], acknowledged: 0, durable: 0, error: None };
    match Store::open("store", &worker.options) {
        Ok(store) => worker.store = Some(store),
        Err(error) => {
            done.error = Some(error);
            return done;
        }
    }
    for (number, step) in (1..).zip(STEPS) {
        let mut model = done.models.last().unwrap().clone();
        let result = step(&mut worker, &mut model);
        done.models.push(model);
        match result {
            Ok(durability) => {
                done.acknowledged = number;
                if durability.is_some_and(|durability| durability != Durability::Buffered) {
                    done.durable = number;
                }
            }
            Err(error) => {
                done.error = Some(error);
                goes_on_reading(&worker, &done);
                return done;
            }
        }
    }
    done
}

/// After a failed write a store takes no more writes, or it does as if nothing had been; it answers in any case, if it can read.
fn goes_on_reading(worker: &Worker, done: &Done) {
    let Some(store) = &worker.store else { return };
    let (last, before) = (done.models.last().unwrap(), &done.models[done.models.len() - 2]);
    for query in families(30, 4, 8).into_iter().step_by(7) {
        if let Ok(found) = store.query(query, 3) {
            assert!(found == last.near(query, 3) || found == before.near(query, 3));
        }
    }
    match store.insert(1, 1, Durability::Buffered) {
        Ok(()) => _ = store.remove(1, 1, Durability::Buffered),
        Err(error) => assert!(matches!(error.kind(), ErrorKind::Poisoned | ErrorKind::Io), "{error}"),
    }
}

/// An empty store in memory.
fn empty() -> Memory {
    let memory = Memory::default();
    drop(
        Store::<u64>::create("store", &parameters(), &options(Arc::new(memory.clone()), Maintenance::Manual)).unwrap(),
    );
    memory
}

/// Opens the store, and compares it with the models of the steps from which on one has to be there.
fn check(memory: &Memory, done: &Done, from: usize, point: &str) {
    let options = options(Arc::new(memory.clone()), Maintenance::Manual);
    let reader = Store::<u64>::open_read_only("store", &options).unwrap_or_else(|error| panic!("{point}: {error}"));
    let read: Vec<Record> = reader.records().map(Result::unwrap).collect();
    drop(reader);
    let store = Store::<u64>::open("store", &options).unwrap_or_else(|error| panic!("{point}: {error}"));
    let found: Vec<Record> = store.records().map(Result::unwrap).collect();
    assert_eq!(read, found, "{point}");
    check_copy(&options, done, point);
    let model = done.models[from..].iter().find(|model| model.records() == found);
    let model = model.unwrap_or_else(|| panic!("{point}: no state from step {from} on is there: {found:?}"));
    for query in families(30, 4, 8).into_iter().step_by(5) {
        assert_eq!(store.query(query, 3).unwrap(), model.near(query, 3), "{point}");
    }
    for id in 0..12 {
        assert_eq!(store.get_id(id).unwrap(), model.fingerprints_of(&Id::Number(id)), "{point}");
    }
    // It goes on from there.
    store.insert(5, 5, Durability::SyncData).unwrap();
    drop(store);
    memory.crash();
    let damages = verify("store", &options).unwrap().damages;
    assert!(damages.is_empty(), "{point}: {damages:?}");
    let store = Store::<u64>::open("store", &options).unwrap();
    assert_eq!(store.get(5).unwrap().len(), 1, "{point}");
    let names = memory.list(Path::new("store")).unwrap();
    // A merge that was interrupted may go on later.
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let is_left = |name: &String| name.ends_with(".tmp") && name != "merging.tmp";
    assert!(!names.iter().any(is_left) && has("merging.tmp") == has("MERGE"), "{point}: {names:?}");
}

/// The copy is there with all that the store had when it was made, or it is not there at all.
fn check_copy(options: &Options, done: &Done, point: &str) {
    match Store::<u64>::open_read_only(COPY, options) {
        Ok(copy) => {
            let records: Vec<Record> = copy.records().map(Result::unwrap).collect();
            assert_eq!(records, done.models[COPIED].records(), "{point}: the copy");
        }
        Err(error) => {
            assert!(error.kind() == ErrorKind::NotFound && done.acknowledged < COPIED, "{point}: the copy: {error}");
        }
    }
}

/// Number of operations of the whole workload.
fn operations(maintenance: Maintenance) -> u64 {
    let failing = Failing::new(Arc::new(empty()), 0..0);
    let done = work(Arc::new(failing.clone()), maintenance);
    assert!(done.error.is_none() && done.acknowledged == STEPS.len(), "{:?}", done.error);
    failing.operations()
}

#[test]
fn every_operation_fails_in_turn() {
    let poisoned = AtomicU64::new(0);
    let points = MAINTENANCE.map(|maintenance| (0..operations(maintenance)).map(move |point| (maintenance, point)));
    let points: Vec<_> = points.into_iter().flatten().collect();
    points.par_iter().for_each(|&(maintenance, operation)| {
        for (lasting, crash) in [(true, false), (true, true), (false, false), (false, true)] {
            let memory = empty();
            let fails = operation..if lasting { u64::MAX } else { operation + 1 };
            let done = work(Arc::new(Failing::new(Arc::new(memory.clone()), fails)), maintenance);
            if let Some(error) = &done.error {
                assert!(error.path().is_some(), "an error that names no file: {error}");
                poisoned.fetch_add(1, Ordering::Relaxed);
            }
            if crash {
                memory.crash();
            }
            let from = if crash { done.durable } else { done.acknowledged };
            check(
                &memory,
                &done,
                from,
                &format!("{maintenance:?}, operation {operation}, lasting {lasting}, crash {crash}"),
            );
        }
    });
    assert!(poisoned.into_inner() > points.len() as u64, "hardly any fault was noticed");
}

#[test]
fn the_power_fails_at_every_operation_and_leaves_any_part_of_what_was_not_synced() {
    const POINTS: u64 = 10_000;
    let cases = MAINTENANCE.map(|maintenance| (0..operations(maintenance)).map(move |point| (maintenance, point)));
    let cases: Vec<_> = cases.into_iter().flatten().collect();
    let each = POINTS.div_ceil(cases.len() as u64);
    let points = AtomicU64::new(0);
    cases.into_par_iter().for_each(|(maintenance, operation)| {
        let memory = empty();
        // From here on nothing reaches the device.
        let done = work(Arc::new(Failing::new(Arc::new(memory.clone()), operation..u64::MAX)), maintenance);
        for seed in 0..each {
            let after = memory.deep_copy();
            let mut random = Random(operation << 32 | seed);
            // Of some crashes hardly anything survives, of others nearly all.
            let share = random.below(5);
            after.crash_keeping(|| random.below(4) < share);
            check(&after, &done, done.durable, &format!("{maintenance:?}, operation {operation}, seed {seed}"));
            points.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(points.into_inner() >= POINTS);
}
