//! Random sequences of all operations, compared with the model after each.
//!
//! A run has some thousand short sequences. `FPSTORE_SEQUENCES=N` runs N of them, from `FPSTORE_SEED` on (see
//! benches/results/writes.md for the long run).

mod by_id;

use super::model::Model;
use crate::points;
use crate::support::*;
use fpstore::admin::add_id_index;
use fpstore::env::{Env, Failing};
use fpstore::{
    BatchStrategy, Durability, Fingerprint, Id, IdKind, IdRef, Maintenance, Parameters, ReadMode, Record, Records,
    Result, Snapshot, Store, U256, WriteBatch,
};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Operations of a sequence.
const LENGTH: u64 = 50;
/// Sequences of a run by default.
const SEQUENCES: u64 = 2400;

/// A store under test.
struct World<F: Fingerprint> {
    fixture: Fixture,
    parameters: Parameters,
    random: Random,
    store: Store<F>,
    /// A follower, possibly behind.
    reader: Option<Store<F>>,
    model: Model<F>,
    snapshots: Vec<(Snapshot<F>, Model<F>)>,
    /// Fingerprints near each other.
    pool: Vec<F>,
    backups: u64,
    maintenance: Maintenance,
    /// The operations so far, for messages.
    log: Vec<String>,
}

impl<F: Fingerprint> World<F> {
    fn new(parameters: &Parameters, seed: u64) -> Self {
        let mut random = Random(seed);
        let modes = [ReadMode::Mmap, ReadMode::Pread];
        let mut fixture = Fixture::new(modes[random.below(2) as usize]);
        let maintenance = [Maintenance::Manual, Maintenance::Foreground, Maintenance::Background];
        let maintenance = maintenance[random.below(3) as usize];
        fixture.options = fixture.options.with_memtable_memory(0).with_maintenance(maintenance);
        let store = Store::create(&fixture.path, parameters, &fixture.options).unwrap();
        let mut pool: Vec<F> = (0..4).map(|_| F::from_words(|_| random.next())).collect();
        for _ in 0..40 {
            let mut one = pool[random.below(pool.len() as u64) as usize];
            (0..random.below(4)).for_each(|_| one = one.flipped(random.below(F::WIDTH.into()) as u32));
            pool.push(one);
        }
        let model = Model::new(parameters.ids());
        let (parameters, snapshots, log) = (parameters.clone(), Vec::new(), Vec::new());
        Self { fixture, parameters, random, store, reader: None, model, snapshots, pool, backups: 0, maintenance, log }
    }

    fn fingerprint(&mut self) -> F {
        let at = self.random.below(self.pool.len() as u64) as usize;
        self.pool[at]
    }

    fn id(&mut self) -> Id {
        let number = self.random.below(30);
        match self.parameters.ids() {
            IdKind::Number => Id::Number(number),
            IdKind::Text => Id::Text(format!("/page/{number}").into()),
            IdKind::None => Id::Count(1),
        }
    }

    fn durability(&mut self) -> Durability {
        [Durability::Buffered, Durability::SyncData, Durability::SyncAll][self.random.below(3) as usize]
    }

    fn k(&mut self) -> u32 {
        let most = self.parameters.max_distance();
        [0, 1, most, most, most + 2][self.random.below(5) as usize]
    }

    /// One operation on store and model.
    fn step(&mut self) {
        let (fingerprint, id, durability) = (self.fingerprint(), self.id(), self.durability());
        let what = self.random.below(45);
        self.log.push(format!("{what} {fingerprint:x?} {id} {durability:?}"));
        match what {
            0..=9 => {
                self.store.insert(fingerprint, &id, durability).unwrap();
                self.model.insert(fingerprint, &id);
            }
            10..=12 => self.write_batch(durability),
            13..=15 => {
                let removed = self.store.remove(fingerprint, &id, durability).unwrap();
                assert_eq!(removed, self.model.remove(fingerprint, &id), "{:#?}", self.log);
            }
            16 => {
                let removed = self.store.remove_fingerprint(fingerprint, durability).unwrap();
                assert_eq!(removed, self.model.remove_fingerprint(fingerprint), "{:#?}", self.log);
            }
            17 | 18 => self.by_id(fingerprint, &id, durability),
            19..=23 => self.insert_if_new(fingerprint, &id, durability),
            24 | 25 => self.store.flush().unwrap(),
            26 => _ = self.store.compact().unwrap(),
            27 | 28 => self.snapshots.push((self.store.snapshot(), self.model.clone())),
            29 if !self.snapshots.is_empty() => {
                let at = self.random.below(self.snapshots.len() as u64) as usize;
                self.snapshots.swap_remove(at);
            }
            30 | 31 => self.reopen(),
            32 => self.bulk_load(),
            33 => self.bulk_remove(),
            34 => self.read_elsewhere(),
            35 => self.back_up(),
            36 => self.batch_query(),
            37 => self.on_a_failing_disk(),
            38 | 39 => self.bulk_replace(),
            40 | 41 => self.bulk_remove_ids(),
            _ => self.check_all(),
        }
        self.check_some();
    }

    fn write_batch(&mut self, durability: Durability) {
        let (mut batch, mut removed) = (WriteBatch::new(), 0);
        for _ in 0..self.random.below(8) {
            let (fingerprint, id) = (self.fingerprint(), self.id());
            match self.random.below(5) {
                0 => {
                    batch.remove(fingerprint, &id);
                    removed += u64::from(self.model.remove(fingerprint, &id));
                }
                1 if self.random.below(3) == 0 => {
                    batch.remove_fingerprint(fingerprint);
                    removed += self.model.remove_fingerprint(fingerprint);
                }
                2 if self.parameters.id_index() => {
                    batch.replace(fingerprint, &id);
                    removed += self.model.remove_id(&id, Some(fingerprint));
                    self.model.insert(fingerprint, &id);
                }
                3 if self.parameters.id_index() => {
                    batch.remove_id(&id);
                    removed += self.model.remove_id(&id, None);
                }
                _ => {
                    batch.insert(fingerprint, &id);
                    self.model.insert(fingerprint, &id);
                }
            }
        }
        let written = self.store.write(&batch, durability).unwrap();
        assert_eq!(written.removed, removed, "{:#?} {batch:?}", self.log);
    }

    fn by_id(&mut self, fingerprint: F, id: &Id, durability: Durability) {
        if !self.parameters.id_index() {
            assert!(self.store.get_id(id).is_err());
            return;
        }
        assert_eq!(self.store.get_id(id).unwrap(), self.model.fingerprints_of(id), "{:#?}", self.log);
        if self.random.below(2) == 0 {
            let removed = self.store.replace(fingerprint, id, durability).unwrap();
            assert_eq!(removed, self.model.remove_id(id, Some(fingerprint)), "{:#?}", self.log);
            self.model.insert(fingerprint, id);
        } else {
            let removed = self.store.remove_id(id, durability).unwrap();
            assert_eq!(removed, self.model.remove_id(id, None), "{:#?}", self.log);
        }
    }

    fn insert_if_new(&mut self, fingerprint: F, id: &Id, durability: Durability) {
        let k = self.k();
        let counted = self.parameters.ids() == IdKind::None;
        let (own, duplicates): (Vec<_>, Vec<_>) =
            self.model.near(fingerprint, k).into_iter().partition(|one| one.id == *id && !counted);
        let most = [1, 2, usize::MAX][self.random.below(3) as usize];
        let check = self.store.insert_if_new_naming(fingerprint, id, k, most, durability).unwrap();
        let is_there = own.iter().any(|one| one.distance == 0);
        assert_eq!(check.inserted, duplicates.is_empty() && !is_there, "{:#?}", self.log);
        assert_eq!(check.own, own, "{:#?}", self.log);
        // With a limit, some of the nearest matches; the choice among equal distances is unspecified.
        let places = |matches: &[fpstore::Match<F>], most| {
            matches.iter().take(most).map(|one| (one.distance, one.fingerprint)).collect::<Vec<_>>()
        };
        assert_eq!(places(&check.duplicates, usize::MAX), places(&duplicates, most), "{:#?}", self.log);
        assert!(check.duplicates.iter().all(|one| duplicates.contains(one)), "{:#?}", self.log);
        assert!(check.duplicates.is_sorted_by(|a, b| a < b), "{:#?}", self.log);
        if check.inserted {
            self.model.insert(fingerprint, id);
        }
    }

    fn reopen(&mut self) {
        self.reader = None;
        // Close a store before opening it again.
        let other = Store::<F>::open(&self.fixture.path, &self.fixture.options);
        assert_eq!(other.unwrap_err().kind(), fpstore::ErrorKind::Locked);
        let read_only = Store::open_read_only(&self.fixture.path, &self.fixture.options).unwrap();
        drop(std::mem::replace(&mut self.store, read_only));
        if self.parameters.ids() != IdKind::None && self.random.below(9) == 0 {
            let had_one = self.parameters.id_index();
            assert_eq!(add_id_index(&self.fixture.path, &self.fixture.options).unwrap(), !had_one);
            self.parameters = self.parameters.clone().with_id_index(true);
        }
        self.store = Store::open(&self.fixture.path, &self.fixture.options).unwrap();
        assert_eq!(*self.store.parameters(), self.parameters);
        assert!(self.store.recovery().torn.is_empty());
    }

    /// Some writes with a failing operation on files, or all failing from one on; optionally with a power failure.
    /// Acknowledged writes survive according to their durability, each write whole or not at all.
    fn on_a_failing_disk(&mut self) {
        self.reader = None;
        self.store.sync(Durability::SyncAll).unwrap();
        let read_only = Store::open_read_only(&self.fixture.path, &self.fixture.options).unwrap();
        drop(std::mem::replace(&mut self.store, read_only));
        let at = self.random.below(80);
        let end = if self.random.below(2) == 0 { at + 1 } else { u64::MAX };
        let shared: Arc<dyn Env> = Arc::new(Failing::new(Arc::new(self.fixture.env.clone()), at..end));
        let store = Store::open(&self.fixture.path, &self.fixture.options.clone().with_env(shared));
        // The possible contents: the state before, and after each write. The numbers of acknowledged and of durable
        // writes.
        let (mut states, mut acknowledged, mut durable) = (vec![self.model.clone()], 0, 0);
        for _ in 0..self.random.below(12) {
            let Ok(store) = &store else { break };
            let mut model = states[states.len() - 1].clone();
            let lasts = self.attempt(store, &mut model);
            states.push(model);
            let Ok(lasts) = lasts else { break };
            acknowledged = states.len() - 1;
            durable = if lasts { acknowledged } else { durable };
        }
        drop(store);
        let (fails, share) = (self.random.below(2) == 0, self.random.below(5));
        if fails {
            let random = &mut self.random;
            self.fixture.env.crash_keeping(|| random.below(4) < share);
        }
        self.store = Store::open(&self.fixture.path, &self.fixture.options).unwrap();
        let found: Vec<Record<F>> = self.store.records().map(Result::unwrap).collect();
        let mut left = states.drain(if fails { durable } else { acknowledged }..);
        let state = left.find(|state| state.records() == found);
        drop(left);
        self.model = state.unwrap_or_else(|| panic!("{found:?} is no state that there may be: {:#?}", self.log));
    }

    /// A write to a store that may fail; returns whether it survives a power failure.
    fn attempt(&mut self, store: &Store<F>, model: &mut Model<F>) -> Result<bool> {
        let (fingerprint, id, durability) = (self.fingerprint(), self.id(), self.durability());
        let what = self.random.below(11);
        self.log.push(format!("  perhaps {what} {fingerprint:x?} {id} {durability:?}"));
        match what {
            0..=3 => {
                model.insert(fingerprint, &id);
                store.insert(fingerprint, &id, durability)?;
            }
            4 => {
                model.remove(fingerprint, &id);
                store.remove(fingerprint, &id, durability)?;
            }
            5 => {
                let mut batch = WriteBatch::new();
                for _ in 0..4 {
                    let (fingerprint, id) = (self.fingerprint(), self.id());
                    batch.insert(fingerprint, &id);
                    model.insert(fingerprint, &id);
                }
                store.write(&batch, durability)?;
            }
            6 => {
                let (records, load) = self.records();
                records.iter().for_each(|record| model.insert(record.fingerprint, &record.id));
                return store.bulk_load(load).map(|_| true);
            }
            7 => return store.compact().map(|_| true),
            8 if model.is_with_ids() => {
                let (records, given) = self.records();
                model.replace(&records);
                return store.bulk_replace(given).map(|_| true);
            }
            9 if model.is_with_ids() => {
                let ids: Vec<Id> = (0..self.random.below(4)).map(|_| self.id()).collect();
                ids.iter().for_each(|id| _ = model.remove_id(id, None));
                return store.bulk_remove_ids(&self.sorted(&ids)).map(|_| true);
            }
            _ => return store.flush().map(|()| true),
        }
        Ok(durability != Durability::Buffered)
    }

    /// Some records for a bulk load or a bulk removal.
    fn records(&mut self) -> (Vec<Record<F>>, Records<F>) {
        let count = self.random.below(20);
        let records: Vec<Record<F>> =
            (0..count).map(|_| Record { fingerprint: self.fingerprint(), id: self.id() }).collect();
        let load = match self.parameters.ids() {
            IdKind::None => Records::Numbered(records.iter().map(|record| record.fingerprint).collect()),
            _ => Records::WithIds(records.clone()),
        };
        (records, load)
    }

    fn bulk_load(&mut self) {
        let (records, load) = self.records();
        let before = self.model.records();
        records.iter().for_each(|record| self.model.insert(record.fingerprint, &record.id));
        let report = if self.random.below(3) == 0 {
            self.store.bulk_load_compact(load).unwrap().0
        } else {
            self.store.bulk_load(load).unwrap()
        };
        if self.parameters.ids() != IdKind::None {
            assert_eq!(report.added(), (self.model.records().len() - before.len()) as u64, "{:#?}", self.log);
        }
    }

    fn bulk_remove(&mut self) {
        let (records, load) = self.records();
        let removed = records.iter().filter(|record| self.model.remove(record.fingerprint, &record.id)).count();
        let report = self.store.bulk_remove(load).unwrap();
        assert_eq!((report.removed, report.left), (removed as u64, self.model.count()), "{:#?}", self.log);
    }

    /// A reader in another process sees the same after a refresh.
    fn read_elsewhere(&mut self) {
        match &self.reader {
            Some(reader) => _ = reader.refresh().unwrap(),
            None => {
                self.reader = Some(Store::open_read_only(&self.fixture.path, &self.fixture.options).unwrap());
            }
        }
        let reader = self.reader.as_ref().unwrap();
        let found: Vec<Record<F>> = reader.records().map(Result::unwrap).collect();
        assert_eq!(found, self.model.records(), "{:#?}", self.log);
        // Background work may change the manifest at any time.
        assert!(self.maintenance == Maintenance::Background || !reader.refresh().unwrap());
    }

    fn back_up(&mut self) {
        self.backups += 1;
        let path = PathBuf::from(format!("backup {}", self.backups));
        let mode = [fpstore::admin::BackupMode::Link, fpstore::admin::BackupMode::Copy][self.random.below(2) as usize];
        assert_eq!(self.store.backup(&path, mode).unwrap().records, self.model.count(), "{:#?}", self.log);
        let copy = Store::<F>::open(&path, &self.fixture.options).unwrap();
        let found: Vec<Record<F>> = copy.records().map(Result::unwrap).collect();
        assert_eq!(found, self.model.records(), "{:#?}", self.log);
        copy.insert(self.pool[0], &self.id_of_copy(), Durability::Buffered).unwrap();
    }

    fn id_of_copy(&self) -> Id {
        match self.parameters.ids() {
            IdKind::Number => Id::Number(1),
            IdKind::Text => Id::Text("/copy".into()),
            IdKind::None => Id::Count(1),
        }
    }

    fn batch_query(&mut self) {
        let queries: Vec<F> = (0..9).map(|_| self.fingerprint()).collect();
        let (k, way) = (
            self.k(),
            [BatchStrategy::Always, BatchStrategy::Never, BatchStrategy::Auto][self.random.below(3) as usize],
        );
        let answers = self.store.searcher().query_batch(&queries, k, way).unwrap();
        for (query, answer) in queries.iter().zip(answers) {
            assert_eq!(answer, self.model.near(*query, k), "{way:?} {:#?}", self.log);
        }
    }

    fn check_some(&mut self) {
        let (mut query, k) = (self.fingerprint(), self.k());
        if self.random.below(2) == 0 {
            query = query.flipped(self.random.below(F::WIDTH.into()) as u32);
        }
        let expected = self.model.near(query, k);
        assert_eq!(self.store.query(query, k).unwrap(), expected, "{:#?}", self.log);
        assert_eq!(self.store.statistics().records, self.model.count(), "{:#?}", self.log);
        let any = self.store.contains_near(query, k).unwrap();
        assert!(any.is_some() != expected.is_empty() && any.is_none_or(|any| expected.contains(&any)));
        let nearest = self.store.nearest(query, 3).unwrap();
        let all = self.model.near(query, F::WIDTH);
        assert_eq!(nearest, all[..all.len().min(3)], "{:#?}", self.log);
    }

    fn check_all(&mut self) {
        let found: Vec<Record<F>> = self.store.records().map(Result::unwrap).collect();
        assert_eq!(found, self.model.records(), "{:#?}", self.log);
        for (snapshot, model) in &self.snapshots {
            let found: Vec<Record<F>> = snapshot.records().map(Result::unwrap).collect();
            assert_eq!(found, model.records(), "{:#?}", self.log);
            let (query, k) = (self.pool[5], self.parameters.max_distance());
            assert_eq!(snapshot.searcher().query(query, k).unwrap(), model.near(query, k));
            assert_eq!(snapshot.searcher().scan(query, k).unwrap(), model.near(query, k));
        }
        let k = self.parameters.max_distance();
        let fingerprints: Vec<F> = {
            let mut all: Vec<F> = self.model.records().iter().map(|record| record.fingerprint).collect();
            all.dedup();
            all
        };
        let near = |a: &F| fingerprints.iter().filter(move |b| *a < **b && a.distance(**b) <= k).count();
        let expected: usize = fingerprints.iter().map(near).sum();
        let pairs = self.store.pairs(k).unwrap().distinct().unwrap().map(Result::unwrap).count();
        assert_eq!(pairs, expected, "{:#?}", self.log);
    }

    fn run(mut self) {
        (0..LENGTH).for_each(|_| self.step());
        self.check_all();
        self.reopen();
        self.check_all();
        self.store.compact().unwrap();
        self.check_all();
        let statistics = self.store.statistics();
        let records = self.model.records();
        let count = |id: &Id| if let Id::Count(count) = id { *count } else { 1 };
        assert_eq!(statistics.records, records.iter().map(|record| count(&record.id)).sum::<u64>());
        assert!(statistics.runs <= 1 && statistics.tombstones == 0);
        let damages = self.store.verify().unwrap().damages;
        assert!(damages.is_empty(), "{damages:?}");
        self.snapshots.clear();
        self.store.wait_for_maintenance().unwrap();
        // Only the manifest, the lock, and the segments of one run remain.
        drop(self.reader);
        let mut names: Vec<String> = self.fixture.files().into_iter().map(|(path, _)| name(&path)).collect();
        names.retain(|name| !["MANIFEST", "LOCK"].contains(&name.as_str()));
        let expected = statistics.segments + u64::from(self.parameters.id_index()) * statistics.segments;
        assert_eq!(names.len() as u64, expected, "{names:?} {:#?}", self.log);
    }
}

fn name(path: &std::path::Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Every kind of store in turn.
fn sequence(number: u64) {
    let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let ids = [IdKind::Number, IdKind::Text, IdKind::None][number as usize % 3];
    let parameters = Parameters::new(3).with_ids(ids).with_id_index(ids != IdKind::None && number.is_multiple_of(2));
    match number % 10 {
        0 => World::<U256>::new(&parameters.with_width(256), seed).run(),
        1 => World::<u128>::new(&parameters.with_width(128), seed).run(),
        _ => World::<u64>::new(&parameters, seed).run(),
    }
}

#[test]
fn random_sequences_agree_with_the_model() {
    let variable = |name| std::env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    // Each is long: a short run takes one of 23.
    let taken = points::seeds(23, SEQUENCES);
    let first = variable("FPSTORE_SEED").unwrap_or(taken.start);
    let count = variable("FPSTORE_SEQUENCES").unwrap_or(taken.end - taken.start);
    (first..first + count).into_par_iter().for_each(sequence);
}

#[test]
fn records_are_numbered_by_the_store() {
    let fixture = Fixture::new(ReadMode::Pread);
    let store = Store::<u64>::create(&fixture.path, &Parameters::new(3), &fixture.options).unwrap();
    assert_eq!(store.insert_numbered(7, Durability::Buffered).unwrap(), 0);
    let mut batch = WriteBatch::new();
    (10..20).for_each(|fingerprint| batch.insert(fingerprint, IdRef::None));
    assert_eq!(store.write(&batch, Durability::Buffered).unwrap().first_number, Some(1));
    assert!(store.insert(7, 100, Durability::Buffered).is_err());
    store.remove_fingerprint(19, Durability::Buffered).unwrap();
    drop(store);
    let store = Store::<u64>::open(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.insert_numbered(7, Durability::Buffered).unwrap(), 11);
    store.bulk_load(Records::Numbered(vec![1, 2, 3])).unwrap();
    assert_eq!(store.insert_numbered(7, Durability::Buffered).unwrap(), 15);
    drop(store);
    let store = Store::<u64>::open(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.insert_numbered(8, Durability::SyncAll).unwrap(), 16);
    assert_eq!(store.get(7).unwrap(), [0, 11, 15].map(Id::Number));
}
