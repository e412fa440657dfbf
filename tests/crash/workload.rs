//! The recorded process: runs the steps of a case, and writes marks between them.

use super::cases::{Case, Step, Write};
use super::recording::MARKS;
use fpstore::admin::BackupMode;
use fpstore::bulk::IdSorter;
use fpstore::{Filters, Fingerprint, IdKind, IdRef, Maintenance, Options, Record, Records, Result, Store, WriteBatch};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A line that the process writes to the file of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The store exists.
    Created,
    /// A step of a thread begins.
    Begun { thread: usize, step: usize },
    /// A step has returned; `durable` says whether it promises to survive a power failure.
    Done { thread: usize, step: usize, durable: bool },
}

impl Mark {
    fn line(self) -> String {
        match self {
            Self::Created => "created\n".to_owned(),
            Self::Begun { thread, step } => format!("begun {thread} {step}\n"),
            Self::Done { thread, step, durable } => format!("done {thread} {step} {}\n", u8::from(durable)),
        }
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let kind = words.next()?;
        let numbers = words.map(|word| word.parse().ok()).collect::<Option<Vec<usize>>>()?;
        match (kind, numbers.as_slice()) {
            ("created", []) => Some(Self::Created),
            ("begun", &[thread, step]) => Some(Self::Begun { thread, step }),
            ("done", &[thread, step, durable]) => Some(Self::Done { thread, step, durable: durable > 0 }),
            _ => None,
        }
    }
}

/// The store's directory below the watched one, and the backup that a step makes.
pub(crate) const STORE: &str = "store";
pub(crate) fn copy(step: usize) -> String {
    format!("copy-{step}")
}

pub(crate) fn options(maintenance: Maintenance, memtable: u64) -> Options {
    Options::new().with_filters(Filters::Off).with_maintenance(maintenance).with_memtable_memory(memtable)
}

/// Runs all steps of a case, beginning with one step of each thread.
pub(crate) fn work<F: Fingerprint>(case: &Case, seed: u64, directory: &Path, from: &[usize]) {
    let marks = std::env::var(MARKS).unwrap();
    let worker = Worker {
        options: options(case.maintenance, case.memtable),
        case: *case,
        directory: directory.to_owned(),
        marks: Mutex::new(OpenOptions::new().append(true).open(marks).unwrap()),
    };
    let path = worker.path();
    let mut store = if path.join("MANIFEST").exists() {
        Store::open(&path, &worker.options).unwrap()
    } else {
        Store::create(&path, &case.parameters(), &worker.options).unwrap()
    };
    worker.mark(Mark::Created);
    let steps = case.steps::<F>(seed);
    if let [steps] = steps.as_slice() {
        for (number, step) in steps.iter().enumerate().skip(from[0]) {
            store = worker.step(store, 0, number, step);
        }
        return;
    }
    std::thread::scope(|scope| {
        for (thread, (steps, &from)) in steps.iter().zip(from).enumerate() {
            let (worker, store) = (&worker, &store);
            scope.spawn(move || {
                for (number, step) in steps.iter().enumerate().skip(from) {
                    worker.marked(thread, number, step, || worker.act(store, number, step).unwrap());
                }
            });
        }
    });
}

struct Worker {
    case: Case,
    options: Options,
    directory: PathBuf,
    marks: Mutex<File>,
}

impl Worker {
    fn path(&self) -> PathBuf {
        self.directory.join(STORE)
    }

    fn mark(&self, mark: Mark) {
        self.marks.lock().unwrap().write_all(mark.line().as_bytes()).unwrap();
    }

    fn marked<T, F: Fingerprint>(&self, thread: usize, number: usize, step: &Step<F>, work: impl FnOnce() -> T) -> T {
        self.mark(Mark::Begun { thread, step: number });
        let result = work();
        self.mark(Mark::Done { thread, step: number, durable: step.is_durable() });
        result
    }

    fn step<F: Fingerprint>(&self, store: Store<F>, thread: usize, number: usize, step: &Step<F>) -> Store<F> {
        self.marked(thread, number, step, || {
            if matches!(step, Step::Reopen) {
                drop(store);
                return Store::open(self.path(), &self.options).unwrap();
            }
            self.act(&store, number, step).unwrap();
            store
        })
    }

    fn act<F: Fingerprint>(&self, store: &Store<F>, number: usize, step: &Step<F>) -> Result<()> {
        let id = |id| if self.case.ids == IdKind::None { IdRef::None } else { IdRef::from(id) };
        match step {
            Step::Batch(writes, durability) => {
                let mut batch = WriteBatch::new();
                for write in writes {
                    match write {
                        Write::Insert(fingerprint, own) => batch.insert(*fingerprint, id(own)),
                        Write::Remove(fingerprint, own) => batch.remove(*fingerprint, id(own)),
                        Write::RemoveFingerprint(fingerprint) => batch.remove_fingerprint(*fingerprint),
                        Write::RemoveId(own) => batch.remove_id(id(own)),
                        Write::Replace(fingerprint, own) => batch.replace(*fingerprint, id(own)),
                    }
                }
                store.write(&batch, *durability).map(drop)
            }
            Step::One(write, durability) => match write {
                Write::Insert(fingerprint, own) => store.insert(*fingerprint, id(own), *durability),
                Write::Remove(fingerprint, own) => store.remove(*fingerprint, id(own), *durability).map(drop),
                Write::RemoveFingerprint(fingerprint) => store.remove_fingerprint(*fingerprint, *durability).map(drop),
                Write::RemoveId(own) => store.remove_id(id(own), *durability).map(drop),
                Write::Replace(fingerprint, own) => store.replace(*fingerprint, id(own), *durability).map(drop),
            },
            Step::InsertIfNew(fingerprint, own, durability) => {
                store.insert_if_new(*fingerprint, id(own), super::cases::DISTANCE, *durability).map(drop)
            }
            Step::Load(records) => store.bulk_load(self.records(records)).map(drop),
            Step::Unload(records) => store.bulk_remove(self.records(records)).map(drop),
            Step::ReplaceAll(records) => store.bulk_replace(self.records(records)).map(drop),
            Step::RemoveIds(ids) => {
                let mut sorter = IdSorter::new(&self.path(), &self.options);
                ids.iter().try_for_each(|id| sorter.push(id.into()))?;
                store.bulk_remove_ids(&sorter.finish()?).map(drop)
            }
            Step::Sync(durability) => store.sync(*durability),
            Step::Flush => store.flush(),
            Step::Compact => store.compact().map(drop),
            Step::Backup => {
                let path = self.directory.join(copy(number));
                // The backup of an earlier process may have survived a power failure.
                if path.join("MANIFEST").exists() {
                    return Ok(());
                }
                let mode = if number.is_multiple_of(2) { BackupMode::Link } else { BackupMode::Copy };
                store.backup(path, mode).map(drop)
            }
            Step::Reopen => Ok(()),
        }
    }

    fn records<F: Fingerprint>(&self, records: &[Record<F>]) -> Records<F> {
        if self.case.ids == IdKind::None {
            return Records::Numbered(records.iter().map(|record| record.fingerprint).collect());
        }
        Records::WithIds(records.to_vec())
    }
}
