//! Checks a crash state with the library: the store opens, is sound, holds the promised records, and accepts writes.

use super::cases::{Case, DISTANCE, thread_of};
use super::states::State;
use super::workload::{STORE, copy, options};
use crate::model::Model;
use fpstore::admin::verify;
use fpstore::{Durability, ErrorKind, Fingerprint, Id, IdKind, IdRef, Maintenance, Options, ReadMode, Record, Store};
use std::fs;
use std::path::Path;

/// The expected records after each step of each thread.
pub(crate) struct Expected<F: Fingerprint> {
    pub(crate) case: Case,
    pub(crate) models: Vec<Vec<Model<F>>>,
    /// The same as lists of records.
    pub(crate) records: Vec<Vec<Vec<Record<F>>>>,
    /// Steps that make a backup.
    pub(crate) copies: Vec<usize>,
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => { if !$condition { return Err(format!($($message)+)); } };
}

/// The message of an error, with the failed operation.
fn failed<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> String {
    move |error| format!("{what}: {error}")
}

impl<F: Fingerprint> Expected<F> {
    /// Checks a state below a directory, and changes it. Returns the number of steps of each thread that survived.
    ///
    /// # Errors
    ///
    /// A message that names the broken promise.
    pub(crate) fn check(&self, state: &State, directory: &Path) -> Result<Vec<usize>, String> {
        let mode = if state.seed.is_multiple_of(2) { ReadMode::Mmap } else { ReadMode::Pread };
        let options = options(Maintenance::Manual, 0).with_read_mode(mode);
        for &step in &self.copies {
            self.check_copy(state, &options, step, &directory.join(copy(step)))?;
        }
        let path = directory.join(STORE);
        let records = match Store::<F>::open_read_only(&path, &options) {
            Ok(store) => all(&store)?,
            Err(error) if error.kind() == ErrorKind::NotFound && !state.progress.created => {
                let created = Store::<F>::create(&path, &self.case.parameters(), &options);
                ensure!(all(&created.map_err(failed("create"))?)?.is_empty(), "a new store is not empty");
                return Ok(vec![0; self.case.threads]);
            }
            Err(error) => return Err(format!("open_read_only: {error}")),
        };
        sound(&path, &options)?;
        let mut store = Store::<F>::open(&path, &options).map_err(failed("open"))?;
        ensure!(all(&store)? == records, "a writer finds other records than a reader");
        let reached = self.reached(state, &records)?;
        self.check_queries(&store, &reached)?;
        // The store accepts writes.
        let own = Id::Number(999);
        let text = Id::from("999");
        let id = match self.case.ids {
            IdKind::Number => own.as_ref(),
            IdKind::Text => text.as_ref(),
            IdKind::None => IdRef::None,
        };
        let new = F::from_words(|number| 999 + number as u64);
        for round in 0..2 {
            store.insert(new, id, Durability::SyncData).map_err(failed("insert"))?;
            if state.seed.is_multiple_of(3) && round == 0 {
                store.compact().map_err(failed("compact"))?;
            }
            drop(store);
            sound(&path, &options)?;
            store = Store::open(&path, &options).map_err(failed("open again"))?;
            let (found, expected): (Vec<_>, Vec<_>) = (all(&store)?, records.clone());
            let (added, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|record| record.fingerprint == new);
            ensure!(others == expected, "after an insert other records have changed");
            ensure!(added.len() == 1, "the inserted record is not there");
        }
        drop(store);
        no_leftovers(&path)?;
        Ok(reached)
    }

    /// Among the possible last steps of each thread, the one that matches the records.
    fn reached(&self, state: &State, records: &[Record<F>]) -> Result<Vec<usize>, String> {
        let mut parts = vec![Vec::new(); self.case.threads];
        for record in records {
            let thread = if self.case.threads == 1 { 0 } else { thread_of(record) };
            parts.get_mut(thread).ok_or("a record of no thread")?.push(record.clone());
        }
        let find = |(thread, part): (usize, &Vec<Record<F>>)| {
            let (from, to) = (state.progress.durable[thread], state.progress.begun[thread]);
            let found = (from..=to).rev().find(|&step| self.records[thread][step] == *part);
            found.ok_or_else(|| {
                let other = self.records[thread].iter().rposition(|records| records == part);
                format!("thread {thread}: the records are not those after step {from} to {to}, but {other:?}")
            })
        };
        parts.iter().enumerate().map(find).collect()
    }

    fn check_queries(&self, store: &Store<F>, reached: &[usize]) -> Result<(), String> {
        let models = || self.models.iter().zip(reached).map(|(models, &step)| &models[step]);
        let count: u64 = models().map(|model| model.count()).sum();
        ensure!(store.statistics().records == count, "other numbers of records than in the model");
        let known: Vec<F> = self.records.iter().flatten().flatten().map(|record| record.fingerprint).collect();
        for &query in known.iter().step_by(known.len() / 4 + 1) {
            let mut near: Vec<_> = models().flat_map(|model| model.near(query, DISTANCE)).collect();
            near.sort_unstable();
            let found = store.query(query, DISTANCE).map_err(failed("query"))?;
            ensure!(found == near, "a query finds something else than the model");
        }
        if self.case.id_index {
            for record in self.records.iter().filter_map(|steps| steps.last()?.first()) {
                let own: Vec<F> = models().flat_map(|model| model.fingerprints_of(&record.id)).collect();
                let found = store.get_id(&record.id).map_err(failed("get_id"))?;
                ensure!(found == own, "an id has other fingerprints than in the model");
            }
        }
        Ok(())
    }

    /// A backup has the state of its step's return, or does not exist.
    fn check_copy(&self, state: &State, options: &Options, step: usize, path: &Path) -> Result<(), String> {
        match Store::<F>::open_read_only(path, options) {
            Ok(store) => {
                ensure!(all(&store)? == self.records[0][step], "the copy of step {step} has other records");
                sound(path, options)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                ensure!(!state.progress.done.contains(&step), "the copy of step {step} is lost");
                // A new store can be created in its place.
                let created = Store::<F>::create(path, &self.case.parameters(), options);
                created.map(drop).map_err(failed("create at the place of a copy"))
            }
            Err(error) => Err(format!("the copy of step {step}: {error}")),
        }
    }
}

fn all<F: Fingerprint>(store: &Store<F>) -> Result<Vec<Record<F>>, String> {
    store.records().collect::<Result<_, _>>().map_err(failed("records"))
}

fn sound(path: &Path, options: &Options) -> Result<(), String> {
    let damages = verify(path, options).map_err(failed("verify"))?.damages;
    ensure!(damages.is_empty(), "verify: {damages:?}");
    Ok(())
}

fn no_leftovers(path: &Path) -> Result<(), String> {
    let entries = fs::read_dir(path).map_err(failed("list"))?;
    let names: Vec<String> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let left = names.iter().any(|name| name.ends_with(".tmp"));
    ensure!(!left, "leftovers: {names:?}");
    Ok(())
}
