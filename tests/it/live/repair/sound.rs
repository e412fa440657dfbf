//! Stores to damage, kinds of damage, and the required state after a repair.

use super::content::{Content, State, state_of};
use crate::support::*;
use fpstore::admin::verify;
use fpstore::env::{Env, Memory};
use fpstore::inspect;
use fpstore::repair::{RepairReport, plan, repair};
use fpstore::{Durability, Fingerprint, Id, IdKind, Match, Parameters, Store, WriteBatch};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sound store, and its content.
pub(super) struct SoundStore<F: Fingerprint> {
    pub(super) fixture: Fixture,
    pub(super) content: Content<F>,
    parameters: Parameters,
}

/// A change of a file.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    /// A byte changes.
    Flip(u64),
    /// The rest of the file is lost.
    Cut(u64),
    /// The file is lost.
    Remove,
}

/// Damage to a file of the store, and the damaged part.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) path: PathBuf,
    pub(crate) section: String,
    pub(crate) damage: Damage,
}

/// The number of records that the runs of a store insert and remove: more than fit a page, or few.
#[derive(Clone, Copy)]
pub(super) struct Size(pub(super) usize);

impl<F: Fingerprint> SoundStore<F> {
    /// A store of three runs, with tombstones, and some logs.
    pub(super) fn new(parameters: &Parameters, size: Size) -> Self {
        Self::seeded(parameters, size, 7)
    }

    /// The same with other records.
    pub(super) fn seeded(parameters: &Parameters, Size(size): Size, seed: u64) -> Self {
        let parameters = parameters.clone().with_width(F::WIDTH);
        let mut fixture = Fixture::new(fpstore::ReadMode::Pread);
        fixture.options = fixture.options.with_memtable_memory(1 << 20);
        let mut random = Random(seed);
        let mut store = Store::<F>::create(&fixture.path, &parameters, &fixture.options).unwrap();
        let mut live: Vec<(F, Id)> = Vec::new();
        let mut write = |store: &Store<F>, live: &mut Vec<(F, Id)>, inserts: usize, removes: usize| {
            let mut batch = WriteBatch::new();
            for _ in 0..removes {
                let (fingerprint, id) = live.swap_remove(random.below(live.len() as u64) as usize);
                batch.remove(fingerprint, &id);
            }
            for number in 0..inserts {
                let one = match (number % 3, live.last()) {
                    (0, Some((last, _))) => last.flipped(random.below(F::WIDTH.into()) as u32),
                    (_, Some((last, _))) if number % 8 == 1 => *last,
                    _ => F::from_words(|_| random.next()),
                };
                let id = match parameters.ids() {
                    IdKind::Number => Id::Number(random.next() >> 3),
                    IdKind::Text => Id::Text(format!("https://host-{}.org/{}", random.below(50), random.next()).into()),
                    IdKind::None => Id::Count(1),
                };
                batch.insert(one, &id);
                live.push((one, id));
            }
            store.write(&batch, Durability::SyncData).unwrap();
        };
        for (inserts, removes) in [(size, 0), (size / 2, size / 3), (size / 3, size / 5)] {
            write(&store, &mut live, inserts, removes);
            store.flush().unwrap();
        }
        // Three successive processes, each with its own log.
        for _ in 0..3 {
            drop(store);
            store = Store::open(&fixture.path, &fixture.options).unwrap();
            (0..3).for_each(|_| write(&store, &mut live, 6, 3));
        }
        let found = state_of(store.records().map(Result::unwrap));
        drop(store);
        let content = Content::of(&fixture);
        assert_eq!(content.state(), found, "what is read from the files is what the store says");
        assert!(content.parts.len() == 5 && content.frames.len() == 9);
        Self { fixture, content, parameters }
    }

    /// The same files in a separate environment.
    pub(super) fn copy(&self) -> Fixture {
        fixture_of(self.fixture.env.deep_copy(), &self.fixture)
    }

    /// Every part of every file: damage to each page, and some to the whole.
    pub(super) fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for (path, bytes) in self.fixture.files() {
            let name = path.file_name().unwrap().to_str().unwrap();
            let length = bytes.len() as u64;
            let mut add =
                |section: &str, damage| cases.push(Case { path: path.clone(), section: section.to_owned(), damage });
            if name.ends_with(".segment") {
                cases.append(&mut segment_cases(&path, length, &self.fixture));
            } else if name.ends_with(".wal") {
                [3, 9, 20, 40].into_iter().for_each(|at| add("log header", Damage::Flip(at)));
                for frame in self.content.frames.iter().filter(|frame| frame.path == path) {
                    [frame.offset, frame.offset + 9, frame.end - 9]
                        .into_iter()
                        .for_each(|at| add("frame", Damage::Flip(at)));
                    [frame.offset, frame.offset + 7, frame.end - 1]
                        .into_iter()
                        .for_each(|at| add("cut", Damage::Cut(at)));
                }
                [0, 30].into_iter().for_each(|cut| add("cut", Damage::Cut(cut)));
                add("missing", Damage::Remove);
            }
        }
        cases
    }

    /// Compares the store with the state expected after reported damage: it must be sound, and answer like brute force.
    pub(super) fn check(&self, fixture: &Fixture, cases: &[Case], report: &RepairReport, label: &str) {
        let damages = verify(&fixture.path, &fixture.options).unwrap();
        assert!(damages.damages.is_empty() && damages.torn.is_empty(), "{label}: {damages:?}");
        let again = plan(&fixture.path, &fixture.options).unwrap();
        assert!(again.is_sound() && again.saves_everything(), "{label}: {again:?}");
        let reader = Store::<F>::open_read_only(&fixture.path, &fixture.options);
        let reader = reader.unwrap_or_else(|error| panic!("{label}: {error}"));
        let found = state_of(reader.records().map(|record| record.unwrap_or_else(|error| panic!("{label}: {error}"))));
        let mut left = self.content.after(report, &found, label);
        for case in cases {
            // A repair cannot detect a lost end of the last log.
            if let Damage::Cut(length) = case.damage {
                left.frames.retain(|frame| frame.path != case.path || frame.end <= length || !self.is_last(&case.path));
            } else if let Damage::Remove = case.damage {
                left.frames.retain(|frame| frame.path != case.path || !self.is_last(&case.path));
            }
        }
        compare_states(&found, &left.state(), label);
        self.ask(&reader, &found, label);
        drop(reader);
        // The store accepts writes, and files kept aside stay.
        let names =
            |fixture: &Fixture| -> BTreeSet<String> { fixture.env.list(&fixture.path).unwrap().into_iter().collect() };
        let store = Store::<F>::open(&fixture.path, &fixture.options).unwrap();
        self.ask(&store, &found, label);
        store.insert(F::default(), &self.some_id(), Durability::SyncAll).unwrap();
        store.flush().unwrap();
        store.compact().unwrap();
        assert_eq!(
            store.records().count(),
            found.len() + usize::from(!found.keys().any(|key| key.0 == F::default())),
            "{label}"
        );
        drop(store);
        let names = names(fixture);
        for kept in &report.kept_aside {
            assert!(names.contains(kept.file_name().unwrap().to_str().unwrap()), "{label}: {kept:?}");
        }
        let aside = names.iter().filter(|name| name.ends_with(".damaged")).count();
        assert_eq!(aside, report.kept_aside.len(), "{label}: {names:?}");
    }

    fn some_id(&self) -> Id {
        match self.parameters.ids() {
            IdKind::Number => Id::Number(5),
            IdKind::Text => Id::Text("five".into()),
            IdKind::None => Id::Count(1),
        }
    }

    fn is_last(&self, path: &Path) -> bool {
        self.content.frames.last().is_some_and(|frame| frame.path == path)
    }

    /// Compares answers with brute force over the found records.
    fn ask(&self, store: &Store<F>, found: &State<F>, label: &str) {
        let all: Vec<(F, Id)> = found
            .iter()
            .map(|((fingerprint, id), &count)| {
                (*fingerprint, if *id == Id::Count(0) { Id::Count(count) } else { id.clone() })
            })
            .collect();
        for (query, _) in all.iter().step_by(all.len() / 12 + 1) {
            let query = query.flipped(5);
            let mut expected: Vec<Match<F>> = Vec::new();
            for (fingerprint, id) in &all {
                let distance = fingerprint.distance(query);
                if distance <= 3 {
                    expected.push(Match { distance, fingerprint: *fingerprint, id: id.clone() });
                }
            }
            expected.sort_unstable();
            assert_eq!(store.query(query, 3).unwrap(), expected, "{label}");
        }
        if self.parameters.id_index() {
            for (fingerprint, id) in all.iter().step_by(all.len() / 9 + 1) {
                assert_eq!(store.get_id(id).unwrap(), [*fingerprint], "{label}");
            }
        }
    }
}

/// Reports the differences only.
pub(super) fn compare_states<F: Fingerprint>(found: &State<F>, expected: &State<F>, label: &str) {
    let few = |a: &State<F>, b: &State<F>| {
        a.iter()
            .filter(|(key, count)| b.get(key) != Some(count))
            .take(5)
            .map(|(key, count)| (key.clone(), *count))
            .collect::<Vec<_>>()
    };
    let (more, less) = (few(found, expected), few(expected, found));
    assert!(more.is_empty() && less.is_empty(), "{label}: there is {more:?}, there should be {less:?}");
}

impl Case {
    /// Damages the file; returns whether that changed it.
    pub(crate) fn damage(&self, fixture: &Fixture) -> bool {
        let Some(mut bytes) = fixture.env.bytes(&self.path) else { return false };
        match self.damage {
            Damage::Flip(at) => match bytes.get_mut(at as usize) {
                Some(byte) => *byte ^= 0x24,
                None => return false,
            },
            Damage::Cut(length) if (length as usize) < bytes.len() => bytes.truncate(length as usize),
            Damage::Cut(_) => return false,
            Damage::Remove => {
                fixture.env.remove(&self.path).unwrap();
                fixture.env.sync_dir(&fixture.path).unwrap();
                return true;
            }
        }
        fixture.env.set_bytes(&self.path, bytes);
        fixture.env.sync_file(&self.path).unwrap();
        true
    }
}

/// Damage to each page of a segment, and some to the whole.
pub(crate) fn segment_cases(path: &Path, length: u64, fixture: &Fixture) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add =
        |section: &str, damage| cases.push(Case { path: path.to_owned(), section: section.to_owned(), damage });
    for section in inspect::open(path, &fixture.options).unwrap()[0].sections() {
        for page in (0..section.length).step_by(4096) {
            let within = (section.length - page).min(4096);
            // Ends of pages are all equal.
            let places = if page == 0 { vec![1, within / 2, within - 1] } else { vec![within / 2] };
            places.into_iter().filter(|&at| at < within).for_each(|at| {
                add(&section.name, Damage::Flip(section.offset + page + at));
            });
        }
    }
    [3, 9, 13].into_iter().for_each(|at| add("header", Damage::Flip(at)));
    (1..=16).step_by(3).for_each(|back| add("trailer", Damage::Flip(length - back)));
    [20, 60].into_iter().for_each(|back| add("footer", Damage::Flip(length - back)));
    [1, 10, 16].into_iter().for_each(|back| add("trailer", Damage::Cut(length - back)));
    [0, 5, length / 2, length - 30].into_iter().for_each(|cut| add("cut", Damage::Cut(cut)));
    add("missing", Damage::Remove);
    cases
}

/// Repairs, after a plan that changes nothing and predicts the repair.
pub(crate) fn planned_and_done(fixture: &Fixture, label: &str) -> RepairReport {
    let before = fixture.files();
    let plan = plan(&fixture.path, &fixture.options).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert!(fixture.files() == before, "{label}: planning has changed something");
    let report = repair(&fixture.path, &fixture.options).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert_eq!(plan, report, "{label}");
    report
}

/// A fixture of these files.
pub(crate) fn fixture_of(env: Memory, like: &Fixture) -> Fixture {
    let shared: Arc<dyn Env> = Arc::new(env.clone());
    Fixture { env, options: like.options.clone().with_env(shared), path: like.path.clone() }
}
