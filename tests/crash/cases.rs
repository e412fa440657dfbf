//! The kinds of stores under test, and the steps of each workload with the expected records after each step.

use crate::model::Model;
use crate::support::Random;
use fpstore::{Durability, Fingerprint, Id, IdKind, Maintenance, Parameters, Record};

/// A kind of store, and its writers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    pub(crate) ids: IdKind,
    pub(crate) id_index: bool,
    pub(crate) maintenance: Maintenance,
    pub(crate) memtable: u64,
    /// Number of writing threads. Each has ids and fingerprints of its own; more than one only with numeric ids.
    pub(crate) threads: usize,
}

const PLAIN: Case = Case {
    name: "",
    width: 64,
    ids: IdKind::Number,
    id_index: true,
    maintenance: Maintenance::Foreground,
    memtable: 0,
    threads: 1,
};
const TEXT: Case = Case { ids: IdKind::Text, ..PLAIN };
const COUNTS: Case = Case { ids: IdKind::None, id_index: false, ..PLAIN };
const BACKGROUND: Maintenance = Maintenance::Background;

pub(crate) const CASES: &[Case] = &[
    Case { name: "64 bits, u64, foreground", ..PLAIN },
    Case { name: "64 bits, u64, background", maintenance: BACKGROUND, ..PLAIN },
    Case { name: "64 bits, u64, manual, no id index", maintenance: Maintenance::Manual, id_index: false, ..PLAIN },
    Case { name: "64 bits, u64, 4 threads", maintenance: BACKGROUND, memtable: 20_000, threads: 4, ..PLAIN },
    Case { name: "64 bits, text, foreground", ..TEXT },
    Case { name: "128 bits, text, background", width: 128, maintenance: BACKGROUND, ..TEXT },
    Case { name: "64 bits, counts, background", maintenance: BACKGROUND, ..COUNTS },
    Case { name: "128 bits, u64, foreground", width: 128, ..PLAIN },
    Case { name: "256 bits, u64, background", width: 256, maintenance: BACKGROUND, ..PLAIN },
    Case { name: "256 bits, counts, foreground", width: 256, ..COUNTS },
];

/// Steps of a thread.
const STEPS: usize = 40;
/// Distance of `insert_if_new` and of the store.
pub(crate) const DISTANCE: u32 = 3;

impl Case {
    pub(crate) fn parameters(&self) -> Parameters {
        Parameters::new(DISTANCE).with_width(self.width).with_ids(self.ids).with_id_index(self.id_index)
    }

    /// The steps of each thread.
    pub(crate) fn steps<F: Fingerprint>(&self, seed: u64) -> Vec<Vec<Step<F>>> {
        (0..self.threads).map(|thread| Generator::new(*self, seed, thread).steps()).collect()
    }
}

/// The thread that a record belongs to.
pub(crate) fn thread_of<F>(record: &Record<F>) -> usize {
    record.id.number().map_or(0, |number| (number >> 40) as usize)
}

/// A call to the store.
#[derive(Clone, Debug)]
pub(crate) enum Step<F: Fingerprint> {
    Batch(Vec<Write<F>>, Durability),
    One(Write<F>, Durability),
    InsertIfNew(F, Id, Durability),
    Load(Vec<Record<F>>),
    Unload(Vec<Record<F>>),
    /// In bulk, in a store with ids.
    ReplaceAll(Vec<Record<F>>),
    /// In bulk, in a store with ids.
    RemoveIds(Vec<Id>),
    Sync(Durability),
    Flush,
    Compact,
    Reopen,
    Backup,
}

/// A part of a batch.
#[derive(Clone, Debug)]
pub(crate) enum Write<F: Fingerprint> {
    Insert(F, Id),
    Remove(F, Id),
    RemoveFingerprint(F),
    RemoveId(Id),
    Replace(F, Id),
}

impl<F: Fingerprint> Write<F> {
    fn apply(&self, model: &mut Model<F>) {
        match self {
            Self::Insert(fingerprint, id) => model.insert(*fingerprint, id),
            Self::Remove(fingerprint, id) => _ = model.remove(*fingerprint, id),
            Self::RemoveFingerprint(fingerprint) => _ = model.remove_fingerprint(*fingerprint),
            Self::RemoveId(id) => _ = model.remove_id(id, None),
            Self::Replace(fingerprint, id) => {
                model.remove_id(id, Some(*fingerprint));
                model.insert(*fingerprint, id);
            }
        }
    }
}

impl<F: Fingerprint> Step<F> {
    /// Whether the step promises that all earlier steps survive a power failure.
    pub(crate) fn is_durable(&self) -> bool {
        match self {
            Self::Batch(_, level) | Self::One(_, level) | Self::InsertIfNew(_, _, level) | Self::Sync(level) => {
                *level != Durability::Buffered
            }
            Self::Load(_) | Self::Unload(_) | Self::ReplaceAll(_) | Self::RemoveIds(_) => true,
            Self::Flush | Self::Compact => true,
            Self::Reopen | Self::Backup => false,
        }
    }

    fn apply(&self, model: &mut Model<F>, ids: IdKind) {
        match self {
            Self::Batch(writes, _) => writes.iter().for_each(|write| write.apply(model)),
            Self::One(write, _) => write.apply(model),
            Self::InsertIfNew(fingerprint, id, _) => {
                let near = model.near(*fingerprint, DISTANCE);
                if near.iter().all(|found| ids != IdKind::None && found.id == *id && found.distance > 0) {
                    model.insert(*fingerprint, id);
                }
            }
            Self::Load(records) => records.iter().for_each(|record| model.insert(record.fingerprint, &record.id)),
            Self::Unload(records) => {
                records.iter().for_each(|record| _ = model.remove(record.fingerprint, &record.id));
            }
            Self::ReplaceAll(records) => _ = model.replace(records),
            Self::RemoveIds(ids) => ids.iter().for_each(|id| _ = model.remove_id(id, None)),
            Self::Sync(_) | Self::Flush | Self::Compact | Self::Reopen | Self::Backup => {}
        }
    }
}

/// The expected records before the first step and after each.
pub(crate) fn models<F: Fingerprint>(case: &Case, steps: &[Step<F>]) -> Vec<Model<F>> {
    let mut models = vec![Model::new(case.ids)];
    for step in steps {
        let mut model = models[models.len() - 1].clone();
        step.apply(&mut model, case.ids);
        models.push(model);
    }
    models
}

/// Chooses the steps of one thread.
struct Generator<F> {
    case: Case,
    thread: u64,
    random: Random,
    /// Fingerprints near each other.
    pool: Vec<F>,
}

impl<F: Fingerprint> Generator<F> {
    fn new(case: Case, seed: u64, thread: usize) -> Self {
        let mut random = Random(seed << 8 | thread as u64);
        random.0 = random.next();
        let mut pool = Vec::new();
        for _ in 0..8 {
            let words: Vec<u64> = (0..F::WORDS).map(|_| random.next()).collect();
            for _ in 0..5 {
                let flipped: Vec<u64> = words.iter().map(|word| word ^ 1 << random.below(64)).collect();
                pool.push(F::from_words(|number| if number == 0 { flipped[0] } else { words[number] }));
            }
        }
        Self { case, thread: thread as u64, random, pool }
    }

    fn fingerprint(&mut self) -> F {
        self.pool[self.random.below(self.pool.len() as u64) as usize]
    }

    fn id(&mut self) -> Id {
        let number = self.random.below(15);
        match self.case.ids {
            IdKind::Number => Id::Number(self.thread << 40 | number),
            IdKind::Text => Id::Text(format!("https://example.org/page/{number}").into()),
            IdKind::None => Id::Count(1),
        }
    }

    fn durability(&mut self) -> Durability {
        let levels = [Durability::Buffered, Durability::Buffered, Durability::SyncData, Durability::SyncAll];
        levels[self.random.below(4) as usize]
    }

    fn records(&mut self) -> Vec<Record<F>> {
        (0..15).map(|_| Record { fingerprint: self.fingerprint(), id: self.id() }).collect()
    }

    fn write(&mut self) -> Write<F> {
        let (fingerprint, id) = (self.fingerprint(), self.id());
        match self.random.below(10) {
            0 | 1 => Write::Remove(fingerprint, id),
            2 => Write::RemoveFingerprint(fingerprint),
            3 if self.case.id_index => Write::RemoveId(id),
            4 if self.case.id_index => Write::Replace(fingerprint, id),
            _ => Write::Insert(fingerprint, id),
        }
    }

    fn step(&mut self) -> Step<F> {
        match self.random.below(26) {
            0..=8 => Step::Batch((0..8).map(|_| self.write()).collect(), self.durability()),
            9..=13 => Step::One(self.write(), self.durability()),
            14 => Step::InsertIfNew(self.fingerprint(), self.id(), self.durability()),
            15 | 16 => Step::Load(self.records()),
            17 => Step::Unload(self.records()),
            18 => Step::Sync(self.durability()),
            19 => Step::Flush,
            20 => Step::Compact,
            21 | 22 if self.case.threads == 1 => Step::Reopen,
            23 if self.case.threads == 1 => Step::Backup,
            24 if self.case.ids != IdKind::None => Step::ReplaceAll(self.records()),
            25 if self.case.ids != IdKind::None => Step::RemoveIds((0..4).map(|_| self.id()).collect()),
            _ => Step::Batch((0..100).map(|_| self.write()).collect(), self.durability()),
        }
    }

    fn steps(mut self) -> Vec<Step<F>> {
        (0..STEPS).map(|_| self.step()).collect()
    }
}
