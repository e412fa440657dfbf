//! Each operation on files fails in turn, alone or with all later ones; and at each of them the power fails, after
//! which any part of the unsynced data may survive.
//!
//! Acknowledged writes survive according to their durability, batches are whole or absent, and queries answer like the
//! model, at one of the possible recovery points.

use super::model::Model;
use crate::points;
use crate::support::*;
use fpstore::admin::{BackupMode, verify};
use fpstore::bulk::IdSorter;
use fpstore::env::{Env, Failing, Memory};
use fpstore::{
    Durability, ErrorKind, Fingerprint, Id, IdKind, Maintenance, Match, Options, Parameters, ReadMode, Record, Records,
    Result, Store, U256, WriteBatch,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The steps of a workload so far.
struct Done<F: Fingerprint> {
    /// The expected records after each step; the first model precedes all steps.
    models: Vec<Model<F>>,
    /// The last step that returned without an error.
    acknowledged: usize,
    /// The last step that promised to survive a power failure.
    durable: usize,
    error: Option<fpstore::Error>,
}

/// One step: changes the model, and applies the same change to the store.
type Step<F> = fn(&mut Worker<F>, &mut Model<F>) -> Result<Option<Durability>>;

/// The store, and the source of randomness.
struct Worker<F: Fingerprint> {
    options: Options,
    store: Option<Store<F>>,
    kind: IdKind,
    random: Random,
}

/// Fingerprints near each other; wide ones share their first words.
fn pool<F: Fingerprint>() -> Vec<F> {
    let wide = |value| F::from_words(|word| if word + 1 == F::WORDS { value } else { 7 });
    families(30, 4, 8).into_iter().map(wide).collect()
}

fn id_of(kind: IdKind, number: u64) -> Id {
    match kind {
        IdKind::Number => Id::Number(number),
        IdKind::Text => Id::Text(format!("/{number}").into()),
        IdKind::None => Id::Count(1),
    }
}

impl<F: Fingerprint> Worker<F> {
    fn store(&self) -> &Store<F> {
        self.store.as_ref().unwrap()
    }

    fn record(&mut self) -> (F, Id) {
        (pool::<F>()[self.random.below(30) as usize], id_of(self.kind, self.random.below(12)))
    }

    /// Records for a bulk load or a bulk removal, and the same for the model.
    fn records(&mut self) -> (Vec<(F, Id)>, Records<F>) {
        let records: Vec<(F, Id)> = (0..15).map(|_| self.record()).collect();
        let given = match self.kind {
            IdKind::None => Records::Numbered(records.iter().map(|record| record.0).collect()),
            _ => {
                let record = |(fingerprint, id): &(F, Id)| Record { fingerprint: *fingerprint, id: id.clone() };
                Records::WithIds(records.iter().map(record).collect())
            }
        };
        (records, given)
    }

    fn batch(&mut self, model: &mut Model<F>, durability: Durability) -> Result<Option<Durability>> {
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

impl<F: Fingerprint> Worker<F> {
    /// Replaces in bulk; does nothing without ids.
    fn replace(&mut self, model: &mut Model<F>) -> Result<Option<Durability>> {
        if self.kind == IdKind::None {
            return Ok(None);
        }
        let (records, given) = self.records();
        let record = |(fingerprint, id): &(F, Id)| Record { fingerprint: *fingerprint, id: id.clone() };
        assert!(model.replace(&records.iter().map(record).collect::<Vec<_>>()) > 0);
        self.store().bulk_replace(given).map(|_| Some(Durability::SyncAll))
    }

    /// Removes ids in bulk; does nothing without ids.
    fn remove_ids(&mut self, model: &mut Model<F>) -> Result<Option<Durability>> {
        if self.kind == IdKind::None {
            return Ok(None);
        }
        let mut ids = IdSorter::new(Path::new("store"), &self.options);
        for number in [3, 7, 70] {
            let id = id_of(self.kind, number);
            model.remove_id(&id, None);
            ids.push((&id).into())?;
        }
        self.store().bulk_remove_ids(&ids.finish()?).map(|_| Some(Durability::SyncAll))
    }
}

/// The steps of a workload: all kinds of writes, and all background operations.
fn steps<F: Fingerprint>() -> Vec<Step<F>> {
    vec![
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
            if w.kind == IdKind::None {
                m.remove_fingerprint(fingerprint);
                w.store().remove_fingerprint(fingerprint, Durability::SyncData)?;
            } else {
                m.remove_id(&id, Some(fingerprint));
                m.insert(fingerprint, &id);
                w.store().replace(fingerprint, &id, Durability::SyncData)?;
            }
            Ok(Some(Durability::SyncData))
        },
        |w, _| w.store().flush().map(|()| Some(Durability::SyncAll)),
        |w, m| w.batch(m, Durability::Buffered),
        |w, m| {
            let (records, given) = w.records();
            records.iter().for_each(|(fingerprint, id)| m.insert(*fingerprint, id));
            w.store().bulk_load(given).map(|_| Some(Durability::SyncAll))
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
            let is_own = |found: &Match<F>| w.kind != IdKind::None && found.id == id;
            if m.near(fingerprint, 3).iter().all(|found| is_own(found) && found.distance > 0) {
                m.insert(fingerprint, &id);
            }
            w.store().insert_if_new(fingerprint, &id, 3, Durability::SyncData).map(|_| Some(Durability::SyncData))
        },
        |w, m| {
            let (records, given) = w.records();
            records.iter().for_each(|(fingerprint, id)| _ = m.remove(*fingerprint, id));
            w.store().bulk_remove(given).map(|_| Some(Durability::SyncAll))
        },
        |w, m| w.batch(m, Durability::SyncData),
        |w, _| w.store().backup(COPY, BackupMode::Link).map(|_| None),
        |w, m| w.replace(m),
        |w, m| w.batch(m, Durability::Buffered),
        |w, m| w.remove_ids(m),
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
    ]
}

/// The directory in which one of the steps makes a backup.
const COPY: &str = "copy";
const COPIED: usize = 15;

/// The thread that flushes and compacts: the writing thread; none until the workload requests it, so that several logs
/// have writes; or background threads, with arbitrary interleaving.
const MAINTENANCE: [Maintenance; 3] = [Maintenance::Foreground, Maintenance::Manual, Maintenance::Background];

fn options(env: Arc<dyn Env>, maintenance: Maintenance) -> Options {
    Options::new().with_env(env).with_read_mode(ReadMode::Pread).with_memtable_memory(0).with_maintenance(maintenance)
}

fn parameters<F: Fingerprint>(kind: IdKind) -> Parameters {
    Parameters::new(3).with_width(F::WIDTH).with_ids(kind).with_id_index(kind != IdKind::None)
}

/// Runs the workload in this environment until an operation fails.
fn work<F: Fingerprint>(env: Arc<dyn Env>, kind: IdKind, maintenance: Maintenance) -> Done<F> {
    let mut worker = Worker { options: options(env, maintenance), store: None, kind, random: Random(17) };
    let mut done = Done { models: vec![Model::new(kind)], acknowledged: 0, durable: 0, error: None };
    match Store::open("store", &worker.options) {
        Ok(store) => worker.store = Some(store),
        Err(error) => {
            done.error = Some(error);
            return done;
        }
    }
    for (number, step) in (1..).zip(steps()) {
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

/// After a failed write a store refuses further writes, or continues as if the write had not happened. It answers
/// queries in both cases, if it can read.
fn goes_on_reading<F: Fingerprint>(worker: &Worker<F>, done: &Done<F>) {
    let Some(store) = &worker.store else { return };
    let (last, before) = (done.models.last().unwrap(), &done.models[done.models.len() - 2]);
    for query in pool::<F>().into_iter().step_by(7) {
        if let Ok(found) = store.query(query, 3) {
            assert!(found == last.near(query, 3) || found == before.near(query, 3));
        }
    }
    let (one, id) = (F::from_words(|_| 1), id_of(worker.kind, 1));
    // It may reach the device, and must not reappear after a power failure.
    let removed = |()| store.remove(one, &id, Durability::SyncData).map(drop);
    if let Err(error) = store.insert(one, &id, Durability::Buffered).and_then(removed) {
        assert!(matches!(error.kind(), ErrorKind::Poisoned | ErrorKind::Io), "{error}");
    }
}

/// An empty store in memory.
fn empty<F: Fingerprint>(kind: IdKind) -> Memory {
    let memory = Memory::default();
    let options = options(Arc::new(memory.clone()), Maintenance::Manual);
    drop(Store::<F>::create("store", &parameters::<F>(kind), &options).unwrap());
    memory
}

/// Opens the store, and compares it with the models of the possible steps.
fn check<F: Fingerprint>(memory: &Memory, kind: IdKind, done: &Done<F>, from: usize, point: &str) {
    let options = options(Arc::new(memory.clone()), Maintenance::Manual);
    let reader = Store::<F>::open_read_only("store", &options).unwrap_or_else(|error| panic!("{point}: {error}"));
    let read: Vec<Record<F>> = reader.records().map(Result::unwrap).collect();
    drop(reader);
    let store = Store::<F>::open("store", &options).unwrap_or_else(|error| panic!("{point}: {error}"));
    let found: Vec<Record<F>> = store.records().map(Result::unwrap).collect();
    assert_eq!(read, found, "{point}");
    check_copy(&options, done, point);
    let model = done.models[from..].iter().find(|model| model.records() == found);
    let model = model.unwrap_or_else(|| panic!("{point}: no state from step {from} on is there: {found:?}"));
    assert_eq!(store.statistics().records, model.count(), "{point}");
    for query in pool::<F>().into_iter().step_by(5) {
        assert_eq!(store.query(query, 3).unwrap(), model.near(query, 3), "{point}");
    }
    for id in (0..12).map(|number| id_of(kind, number)).filter(|_| kind != IdKind::None) {
        assert_eq!(store.get_id(&id).unwrap(), model.fingerprints_of(&id), "{point}");
    }
    // The store accepts writes.
    let (five, id) = (F::from_words(|_| 5), id_of(kind, 5));
    store.insert(five, &id, Durability::SyncData).unwrap();
    drop(store);
    memory.crash();
    let damages = verify("store", &options).unwrap().damages;
    assert!(damages.is_empty(), "{point}: {damages:?}");
    let store = Store::<F>::open("store", &options).unwrap();
    assert_eq!(store.get(five).unwrap().len(), 1, "{point}");
    let names = memory.list(Path::new("store")).unwrap();
    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{point}: {names:?}");
}

/// The backup has all records of the store at the time of the call, or does not exist.
fn check_copy<F: Fingerprint>(options: &Options, done: &Done<F>, point: &str) {
    match Store::<F>::open_read_only(COPY, options) {
        Ok(copy) => {
            let records: Vec<Record<F>> = copy.records().map(Result::unwrap).collect();
            assert_eq!(records, done.models[COPIED].records(), "{point}: the copy");
        }
        Err(error) => {
            assert!(error.kind() == ErrorKind::NotFound && done.acknowledged < COPIED, "{point}: the copy: {error}");
        }
    }
}

/// Number of operations of the whole workload.
fn operations<F: Fingerprint>(kind: IdKind, maintenance: Maintenance) -> u64 {
    let failing = Failing::new(Arc::new(empty::<F>(kind)), 0..0);
    let done = work::<F>(Arc::new(failing.clone()), kind, maintenance);
    assert!(done.error.is_none() && done.acknowledged == steps::<F>().len(), "{:?}", done.error);
    failing.operations()
}

/// Returns every `every`-th operation in a full run, in every kind of maintenance.
fn operations_of_this_run<F: Fingerprint>(kind: IdKind, every: usize) -> Vec<(Maintenance, u64)> {
    let all = |maintenance| (0..operations::<F>(kind, maintenance)).step_by(every).map(move |at| (maintenance, at));
    points::points(MAINTENANCE.into_iter().flat_map(all)).collect()
}

/// Calls `check` with all points. The test has its own threads, because output of a shared thread goes to the test that
/// started it.
fn on_all_cores<T: Sync>(points: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(point);
                }
            });
        }
    });
}

/// Makes operations fail, alone or with all later ones, with and without a power failure.
fn fail_in_turn<F: Fingerprint>(kind: IdKind, every: usize) {
    let (tried, noticed) = (AtomicU64::new(0), AtomicU64::new(0));
    let ways = [(true, false), (false, true), (true, true), (false, false)];
    let points = operations_of_this_run::<F>(kind, every);
    on_all_cores(&points, |&(maintenance, operation)| {
        // A short run takes one of the ways for each operation.
        for (lasting, crash) in points::every(4, ways.into_iter().cycle().skip(operation as usize % 4).take(4)) {
            tried.fetch_add(1, Ordering::Relaxed);
            let memory = empty::<F>(kind);
            let fails = operation..if lasting { u64::MAX } else { operation + 1 };
            let done = work::<F>(Arc::new(Failing::new(Arc::new(memory.clone()), fails)), kind, maintenance);
            if let Some(error) = &done.error {
                assert!(error.path().is_some(), "an error that names no file: {error}");
                noticed.fetch_add(1, Ordering::Relaxed);
            }
            if crash {
                memory.crash();
            }
            let from = if crash { done.durable } else { done.acknowledged };
            let label = format!("{kind:?} {maintenance:?}, operation {operation}, lasting {lasting}, crash {crash}");
            check(&memory, kind, &done, from, &label);
        }
    });
    assert!(noticed.into_inner() > tried.into_inner() / 4, "hardly any fault was noticed");
}

#[test]
fn every_operation_fails_in_turn() {
    fail_in_turn::<u64>(IdKind::Number, 1);
}

#[test]
fn operations_fail_in_stores_of_every_kind() {
    fail_in_turn::<u64>(IdKind::Text, 5);
    fail_in_turn::<u64>(IdKind::None, 5);
    fail_in_turn::<u128>(IdKind::Number, 7);
    fail_in_turn::<U256>(IdKind::Text, 11);
}

/// Simulates power failures at operations; `states` states in all.
fn power_fails<F: Fingerprint>(kind: IdKind, every: usize, states: u64) {
    let cases = operations_of_this_run::<F>(kind, every);
    // A short run takes a third of the states at each of its operations.
    let (operations, parts) = if points::is_long() { (1, 1) } else { (points::SHARE, 3) };
    let seeds = points::seeds(parts, states.div_ceil(cases.len() as u64 * operations));
    let checked = AtomicU64::new(0);
    on_all_cores(&cases, |&(maintenance, operation)| {
        let memory = empty::<F>(kind);
        // From here on no operation reaches the device.
        let failing = Failing::new(Arc::new(memory.clone()), operation..u64::MAX);
        let done = work::<F>(Arc::new(failing), kind, maintenance);
        for seed in seeds.clone() {
            let after = memory.deep_copy();
            let mut random = Random(operation << 32 | seed);
            // Some crashes lose nearly everything, others hardly anything.
            let share = random.below(5);
            after.crash_keeping(|| random.below(4) < share);
            let label = format!("{kind:?} {maintenance:?}, operation {operation}, seed {seed}");
            check(&after, kind, &done, done.durable, &label);
            checked.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(checked.into_inner() >= states.div_ceil(operations * parts));
}

#[test]
fn the_power_fails_at_every_operation_and_leaves_any_part_of_what_was_not_synced() {
    power_fails::<u64>(IdKind::Number, 1, 10_000);
}

#[test]
fn the_power_fails_in_stores_of_every_kind() {
    power_fails::<u64>(IdKind::Text, 3, 1000);
    power_fails::<u64>(IdKind::None, 3, 1000);
    power_fails::<u128>(IdKind::Number, 5, 500);
    power_fails::<U256>(IdKind::Text, 7, 500);
}
