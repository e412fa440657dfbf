//! Builds the prefix filters of an open store, before the first query or in the background after the first ones, or
//! reads those that were saved beside the segments.
//!
//! A budget limits the memory of all filters. Those that are built or being built keep theirs. The rest is divided
//! evenly: the filters that are missing have fewer bits a key if it is less than Bloom filters for all of them take. If
//! it is less than they need at least, it goes to the oldest segments, table by table, and a table that gets nothing
//! has no filter. If it is more, the oldest segments have the larger kind; if not all may have it, an eighth of the
//! budget stays for the segments of later writes. Queries read more blocks the smaller filters are. A filter keeps its
//! bits until its segment is merged or the store is opened anew; so the segments of later writes get what earlier ones
//! have left.
//!
//! Key indexes have no filters: their queries look up keys, and the numbers of records that they find all exist.

use crate::env::Env;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Condvar, Mutex, spawn_background};
use crate::options::Filters;
use crate::plan::filter_shape::{BloomShape, FilterShape};
use crate::segment::{Filter, Segment, Table, saved_filter};
use crate::version::{LatestVersion, StoreContext};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::thread::JoinHandle;

/// Prefix filters of a store ([`crate::Filters`]), in bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterStatistics {
    /// The filters of all tables that are large enough to profit from one.
    pub wanted_bytes: u64,
    /// The filters that are built.
    pub built_bytes: u64,
    /// Those of them that files have ([`crate::Store::save_filters`]).
    pub saved_bytes: u64,
    /// What the budget lacks for them, even if no filters are built ([`crate::Filters::Off`]): they have fewer bits, or
    /// some tables have none.
    pub refused_bytes: u64,
    /// Filters that fit the budget and could not be built: the table cannot be read, or there was no memory.
    pub failed_bytes: u64,
    /// The most memory of all filters ([`crate::Options::with_filter_memory`]).
    pub budget_bytes: u64,
}

pub(crate) fn bytes_of(segment: &Segment) -> u64 {
    segment.tables().iter().filter_map(Table::filter_shape).map(FilterShape::bytes).sum()
}

/// Whether the queries of a store ask filters.
fn are_useful(context: &StoreContext) -> bool {
    context.parameters.keys().is_none()
}

/// `segments` are oldest first.
pub(crate) fn statistics(segments: &[Arc<Segment>], context: &StoreContext) -> FilterStatistics {
    let (tables, needs) = needs(segments, &[]);
    let budget = context.filter_budget();
    let mut statistics = FilterStatistics { budget_bytes: budget, ..FilterStatistics::default() };
    for ((need, granted), (segment, table)) in needs.iter().zip(granted(&needs, budget)).zip(tables) {
        if need.held.is_none() && !are_useful(context) {
            continue;
        }
        let granted = granted.map_or(0, FilterShape::bytes);
        statistics.wanted_bytes += need.shape.bytes();
        statistics.built_bytes += need.held.unwrap_or(0);
        let is_saved = segment.tables().get(table).is_some_and(Table::filter_is_saved);
        statistics.saved_bytes += if is_saved { need.held.unwrap_or(0) } else { 0 };
        statistics.refused_bytes += need.shape.bytes().saturating_sub(need.held.unwrap_or(granted));
        let has_failed = segment.tables().get(table).is_some_and(Table::filter_failed);
        statistics.failed_bytes += if need.held.is_none() && has_failed { granted } else { 0 };
    }
    statistics
}

/// A table that is large enough for a filter: its segment and number.
type Place = (Arc<Segment>, usize);

#[derive(Clone, Copy, Debug)]
struct Need {
    /// The filter that a table should have.
    shape: FilterShape,
    /// Bytes of the one that is built or being built.
    held: Option<u64>,
}

/// The tables that are large enough for a filter, and their needs; `at_work` are the filters that are being built.
fn needs(segments: &[Arc<Segment>], at_work: &[(Place, FilterShape)]) -> (Vec<Place>, Vec<Need>) {
    let tables =
        segments.iter().flat_map(|segment| segment.tables().iter().enumerate().map(move |table| (segment, table)));
    let need = |(segment, (number, table)): (&Arc<Segment>, (usize, &Table))| {
        let is_it = |((other, of_other), _): &&(Place, FilterShape)| Arc::ptr_eq(segment, other) && number == *of_other;
        let shape_at_work = || at_work.iter().find(is_it).map(|&(_, shape)| shape);
        let held = table.filter().map(Filter::shape).or_else(shape_at_work).map(FilterShape::bytes);
        Some(((Arc::clone(segment), number), Need { shape: table.filter_shape()?, held }))
    };
    tables.filter_map(need).unzip()
}

/// The filters that a budget allows to tables that have none: first Bloom filters for all of them, then what they
/// should have while there is memory for it.
fn granted(needs: &[Need], budget: u64) -> Vec<Option<FilterShape>> {
    let sum = |bytes: &dyn Fn(&Need) -> u64| needs.iter().map(bytes).fold(0, u64::saturating_add);
    let rest = budget.saturating_sub(sum(&|need| need.held.unwrap_or(0)));
    let missing = |bytes: fn(FilterShape) -> u64| sum(&|need| if need.held.is_none() { bytes(need.shape) } else { 0 });
    let smaller = missing(|shape| shape.smaller().bytes());
    let mut left = rest;
    let grant = |&Need { shape, held }: &Need| {
        let shape = shape.smaller();
        let even = u128::from(shape.bytes()) * u128::from(rest) / u128::from(smaller.max(1));
        let bytes = u64::try_from(even).unwrap_or(u64::MAX).clamp(shape.least_bytes(), shape.bytes());
        let granted = if held.is_none() && bytes <= left { shape.within(bytes) } else { None };
        left -= granted.map_or(0, BloomShape::bytes);
        granted.map(FilterShape::Bloom)
    };
    let mut all: Vec<Option<FilterShape>> = needs.iter().map(grant).collect();
    let spare = if missing(FilterShape::bytes) <= rest { 0 } else { budget / 8 };
    for (need, granted) in needs.iter().zip(&mut all) {
        if let (FilterShape::Lines(_), Some(granted)) = (need.shape, granted) {
            let more = need.shape.bytes().saturating_sub(granted.bytes());
            if more.saturating_add(spare) <= left {
                left -= more;
                *granted = need.shape;
            }
        }
    }
    all
}

/// The threads that build filters. They end when no filter is left to build, or when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct FilterMaker {
    work: Arc<FilterQueue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct FilterQueue {
    tables: Mutex<Tables>,
    stop: AtomicBool,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Tables {
    /// Tables of the oldest segments first.
    waiting: VecDeque<(Place, FilterShape)>,
    /// The tables whose filters are being built, one a thread.
    at_work: Vec<(Place, FilterShape)>,
    threads: usize,
    /// Whether some were asked for, or refused.
    were_wanted: bool,
}

impl FilterMaker {
    /// Builds the missing filters of the latest segments that the budget allows, and no others.
    pub(crate) fn want(&self, latest: &LatestVersion, context: &StoreContext, when: Filters) {
        let mut tables = self.work.tables.lock();
        // Under the lock: of two calls, the second one has the later segments.
        let version = latest.super_version();
        let segments = &version.segments;
        let none =
            when == Filters::Off || !are_useful(context) || segments.iter().all(|segment| bytes_of(segment) == 0);
        let budget = if none { 0 } else { context.filter_budget() };
        tables.were_wanted = true;
        tables.waiting = if none { VecDeque::new() } else { tables.missing(segments, budget) };
        let threads = context.options.executor.threads().min(tables.waiting.len()).saturating_sub(tables.threads);
        tables.threads += threads;
        drop(tables);
        let mut handles = self.threads.lock();
        handles.retain(|handle| !handle.is_finished());
        for _ in 0..threads {
            let (work, env) = (Arc::clone(&self.work), Arc::clone(context.env()));
            // Not on a crew: a thread of the crew may wait for the filters. Without these threads queries are only
            // slower. They outlive the operation that starts them.
            match spawn_background("fpstore filters", move || work.make(&*env)) {
                Ok(handle) => handles.push(handle),
                Err(_) => self.work.end_of_thread(self.work.tables.lock()),
            }
        }
        drop(handles);
        if when == Filters::AtOpen {
            self.wait();
        }
    }

    /// Makes those filters that the budget allows and that no thread has made: it could not, or was told to leave them.
    pub(crate) fn make_missing(&self, segments: &[Arc<Segment>], context: &StoreContext) -> Result<()> {
        if !are_useful(context) {
            return Ok(());
        }
        let missing = self.work.tables.lock().missing(segments, context.filter_budget());
        for ((segment, number), shape) in missing {
            self.work.make_one(&**context.env(), &segment, number, shape)?;
            if segment.tables().get(number).and_then(Table::filter).is_none() {
                let error = Error::new(ErrorKind::Io, "there is no memory for the filter of a table");
                return Err(error.at_path(segment.path()).with_remedy("allow filters less memory"));
            }
        }
        Ok(())
    }

    /// Whether [`FilterMaker::want`] was called.
    pub(crate) fn were_wanted(&self) -> bool {
        self.work.tables.lock().were_wanted
    }

    pub(crate) fn wait(&self) {
        let mut tables = self.work.tables.lock();
        while tables.threads > 0 {
            tables = self.work.changed.wait(tables);
        }
    }
}

impl Tables {
    /// The filters that are neither built nor being built, within the budget.
    fn missing(&self, segments: &[Arc<Segment>], budget: u64) -> VecDeque<(Place, FilterShape)> {
        let (places, needs) = needs(segments, &self.at_work);
        let granted = granted(&needs, budget);
        places.into_iter().zip(granted).filter_map(|(place, shape)| Some((place, shape?))).collect()
    }
}

impl FilterQueue {
    /// Reads or builds the waiting filters. A table that cannot be read has no filter; a query of it returns the error.
    fn make(&self, env: &dyn Env) {
        let mut tables = self.tables.lock();
        while let Some(wanted) = tables.waiting.pop_front().filter(|_| !self.stop.load(Ordering::Relaxed)) {
            tables.at_work.push(wanted.clone());
            drop(tables);
            let ((segment, number), shape) = wanted;
            if let Some(table) = segment.tables().get(number) {
                // After a panic of the environment, the thread goes on with other tables; `wait` waits for it.
                let _ = catch_unwind(AssertUnwindSafe(|| self.make_one(env, &segment, number, shape)));
                if table.filter().is_none() && !self.stop.load(Ordering::Relaxed) {
                    table.set_filter_failed();
                }
            }
            tables = self.tables.lock();
            tables.at_work.retain(|((other, of_other), _)| !Arc::ptr_eq(&segment, other) || number != *of_other);
        }
        self.end_of_thread(tables);
    }

    /// Reads or builds a filter of a table.
    fn make_one(&self, env: &dyn Env, segment: &Segment, number: usize, shape: FilterShape) -> Result<()> {
        let Some(table) = segment.tables().get(number) else { return Ok(()) };
        // `verify` reports a file that cannot be read.
        if let Ok(Some((filter, is_skewed))) = saved_filter(env, segment, number, shape) {
            table.set_saved_filter(filter, is_skewed);
            return Ok(());
        }
        table.build_filter(shape, &self.stop)
    }

    /// Decrements the number of threads under the lock under which the thread found no work.
    fn end_of_thread(&self, mut tables: MutexGuard<'_, Tables>) {
        tables.threads -= 1;
        drop(tables);
        self.changed.notify_all();
    }
}

impl Drop for FilterMaker {
    fn drop(&mut self) {
        self.work.stop.store(true, Ordering::Relaxed);
        for handle in self.threads.get_mut().drain(..) {
            let _ = handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the filters that are granted to tables of this many keys, of which some have filters.
    fn bytes(needs: &[(u64, Option<u64>)], budget: u64) -> Vec<u64> {
        let need = |&(keys, held): &(u64, Option<u64>)| Need { shape: shape(keys), held };
        let needs: Vec<Need> = needs.iter().map(need).collect();
        granted(&needs, budget).into_iter().map(|shape| shape.map_or(0, FilterShape::bytes)).collect()
    }

    fn shape(keys: u64) -> FilterShape {
        FilterShape::new(keys, 64, Some(1)).unwrap()
    }

    #[test]
    fn a_budget_is_divided_evenly_and_too_small_a_one_goes_to_the_first() {
        let (large, small) = (shape(1_000_000), shape(100_000));
        let all = 2 * large.bytes() + small.bytes();
        let needs = [(1_000_000, None), (100_000, None), (1_000_000, None)];
        for budget in [all, u64::MAX] {
            assert_eq!(bytes(&needs, budget), [large.bytes(), small.bytes(), large.bytes()]);
        }
        for budget in [all - 1, all * 2 / 3, all / 3] {
            let found = bytes(&needs, budget);
            assert!(found.iter().sum::<u64>() <= budget && found.iter().sum::<u64>() > budget - 3 * 128, "{found:?}");
            assert!(found[0] == found[2] && found[0].abs_diff(10 * found[1]) < 2000, "{found:?}");
        }
        let [most, least] = [large, small].map(|shape| shape.smaller().least_bytes());
        assert_eq!(bytes(&needs, 2 * most + least - 1), [most, least, 0]);
        assert_eq!(bytes(&needs, most - 1), [0, least, 0]);
        assert_eq!(bytes(&needs, 0), [0, 0, 0]);
    }

    #[test]
    fn what_is_left_makes_larger_filters_of_the_first() {
        let shape = FilterShape::new(1_000_000, 20, Some(1)).unwrap();
        let (large, small) = (shape.bytes(), shape.smaller().bytes());
        assert!(large > 2 * small);
        let granted = |budget| {
            let needs = [Need { shape, held: None }; 2];
            granted(&needs, budget).into_iter().map(|shape| shape.map_or(0, FilterShape::bytes)).collect::<Vec<_>>()
        };
        assert_eq!(granted(2 * large), [large, large]);
        assert_eq!(granted(2 * large - 1), [large, small]);
        // An eighth is kept.
        let with_spare = (large + small) * 8 / 7 + 8;
        assert_eq!(granted(with_spare), [large, small]);
        assert_eq!(granted(with_spare - 16), [small, small]);
        let less = granted(2 * small - 1);
        assert!(less[0] < small && less[0] == less[1]);
    }

    #[test]
    fn filters_that_are_there_keep_their_memory() {
        let one = shape(1_000_000).bytes();
        let needs = [(1_000_000, None), (1_000_000, Some(one))];
        assert_eq!(bytes(&needs, 2 * one), [one, 0]);
        assert_eq!(bytes(&needs, one), [0, 0]);
        assert_eq!(bytes(&needs, 0), [0, 0]);
        let half = bytes(&needs, one + one / 2)[0];
        assert!(half <= one / 2 && half + 64 > one / 2);
        assert_eq!(bytes(&[(1_000_000, Some(u64::MAX)), (1_000_000, Some(1)), (100_000, None)], u64::MAX), [0, 0, 0]);
    }
}
