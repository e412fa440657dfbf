//! Passes records of stores on to other stores, within a memory limit.

use anyhow::{Context, bail};
use fpstore::bulk::RecordSorter;
use fpstore::{Fingerprint, Options, Record, Store};

use super::place::Place;
use crate::interrupt;

/// Memory of a sorter, if there is enough for several.
const SORTER: u64 = 8 << 20;
/// Most sorters at a time: each may have temporary files.
const SORTERS: u64 = 64;
/// Records between two looks at signals.
const STEP: u64 = 4096;

/// The number of stores whose records are sorted at a time, beside one more sorter, and the options of each.
pub(super) fn shared(options: &Options, memory: u64) -> (usize, Options) {
    let sorters = (memory / SORTER).saturating_sub(1).clamp(1, SORTERS);
    (usize::try_from(sorters).unwrap_or(1), options.clone().with_load_memory(memory / (sorters + 1)))
}

/// Sorters of records for some stores.
pub(super) struct Sorters<'a, F: Fingerprint> {
    targets: Vec<(usize, &'a Place, RecordSorter<F>)>,
    options: &'a Options,
}

impl<'a, F: Fingerprint> Sorters<'a, F> {
    /// For the stores of these places, given by their numbers.
    pub(super) fn new(places: &'a [Place], numbers: &[usize], options: &'a Options) -> Self {
        let target = |number: &usize| {
            let place = places.get(*number)?;
            Some((*number, place, RecordSorter::new(&place.directory, options)))
        };
        Self { targets: numbers.iter().filter_map(target).collect(), options }
    }

    /// Takes a record for those of these places that are among the wanted ones.
    pub(super) fn push(&mut self, record: &Record<F>, wanted: &[usize]) -> anyhow::Result<()> {
        for (number, _, sorter) in &mut self.targets {
            if wanted.contains(number) {
                sorter.push(record.fingerprint, record.id.as_ref())?;
            }
        }
        Ok(())
    }

    /// Loads the records into the stores. Calls `added` with each place and the number of records that its store did
    /// not have.
    pub(super) fn load(self, mut added: impl FnMut(usize, u64)) -> anyhow::Result<()> {
        for (number, place, sorter) in self.targets {
            interrupt::check()?;
            let records = sorter.finish()?;
            if !records.is_empty() {
                let load = |store: &Store<F>| Ok(store.bulk_load(records)?.added());
                added(number, change(place, self.options, load, u64::saturating_add)?);
            }
        }
        Ok(())
    }
}

/// Removes records from the store of a place, and returns how many it had.
pub(super) fn remove<F: Fingerprint>(place: &Place, options: &Options, sorter: RecordSorter<F>) -> anyhow::Result<u64> {
    let records = sorter.finish()?;
    if records.is_empty() {
        return Ok(0);
    }
    change(place, options, |store| Ok(store.bulk_remove(records)?.removed), u64::saturating_sub)
}

/// Changes a store, and checks its number of records: that before and the number that `change` returns give `after`.
fn change<F: Fingerprint>(
    place: &Place,
    options: &Options,
    change: impl FnOnce(&Store<F>) -> anyhow::Result<u64>,
    after: impl FnOnce(u64, u64) -> u64,
) -> anyhow::Result<u64> {
    let work = || -> anyhow::Result<u64> {
        let store = Store::<F>::open(&place.directory, options)?;
        let before = store.statistics().records;
        let number = change(&store)?;
        let statistics = store.statistics();
        if statistics.is_count_exact && statistics.records != after(before, number) {
            bail!(
                "{} has {} records after a change of {number}, and had {before}; `fpdump verify` checks the store",
                place.directory.display(),
                statistics.records
            );
        }
        store.close()?;
        Ok(number)
    };
    work().with_context(|| format!("node {}", place.name))
}

/// Opens the store of a place for reading.
pub(super) fn open<F: Fingerprint>(place: &Place, options: &Options) -> anyhow::Result<Store<F>> {
    Store::open_read_only(&place.directory, options).with_context(|| format!("node {}", place.name))
}

/// Calls `each` with every record of a store.
pub(super) fn each<F: Fingerprint>(
    place: &Place,
    store: &Store<F>,
    mut each: impl FnMut(&Record<F>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for (record, number) in store.records().zip(0_u64..) {
        if number.is_multiple_of(STEP) {
            interrupt::check()?;
        }
        each(&record.with_context(|| format!("node {}", place.name))?)?;
    }
    Ok(())
}
