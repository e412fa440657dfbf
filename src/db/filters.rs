//! Builds the prefix filters of an open store, before the first query or in the background.
//!
//! A budget limits the memory of all filters. It goes first to the filters that are built or being built, then to those
//! of the oldest segments, table by table. A table whose filter does not fit has none; queries then read more of its
//! blocks.
//!
//! Key indexes have no filters: their queries look up keys, and the numbers of records that they find all exist.

use crate::executor::{Condvar, Mutex, spawn_background};
use crate::options::Filters;
use crate::plan::filter_shape::FilterShape;
use crate::segment::{Segment, Table};
use crate::version::StoreContext;
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
    /// Wanted filters that do not fit the budget, even if no filters are built ([`crate::Filters::Off`]).
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
    let (tables, needs) = wanted(segments, &[]);
    let budget = context.filter_budget();
    let mut statistics = FilterStatistics { budget_bytes: budget, ..FilterStatistics::default() };
    for ((&(bytes, is_held), allowed), (segment, number)) in needs.iter().zip(allowed(&needs, budget)).zip(tables) {
        if !is_held && !are_useful(context) {
            continue;
        }
        statistics.wanted_bytes += bytes;
        let part = match (is_held, allowed) {
            (true, _) => &mut statistics.built_bytes,
            (false, false) => &mut statistics.refused_bytes,
            (false, true) if segment.tables().get(number).is_some_and(Table::filter_failed) => {
                &mut statistics.failed_bytes
            }
            (false, true) => continue,
        };
        *part += bytes;
    }
    statistics
}

type Wanted = (Arc<Segment>, usize);
/// The bytes of a filter, and whether it is held: built or being built.
type Need = (u64, bool);

/// The tables that are large enough for a filter, and their filters; `at_work` are those whose filters are being built.
fn wanted(segments: &[Arc<Segment>], at_work: &[Wanted]) -> (Vec<Wanted>, Vec<Need>) {
    let tables =
        segments.iter().flat_map(|segment| segment.tables().iter().enumerate().map(move |table| (segment, table)));
    let need = |(segment, (number, table)): (&Arc<Segment>, (usize, &Table))| {
        let is_at_work = at_work.iter().any(|(other, of_other)| Arc::ptr_eq(segment, other) && number == *of_other);
        let bytes = table.filter_shape()?.bytes();
        Some(((Arc::clone(segment), number), (bytes, table.filter().is_some() || is_at_work)))
    };
    tables.filter_map(need).unzip()
}

/// The filters that a budget allows: those that are held, then each that still fits, in order.
fn allowed(needs: &[Need], budget: u64) -> Vec<bool> {
    let held = needs.iter().filter(|(_, is_held)| *is_held).map(|(bytes, _)| *bytes).fold(0, u64::saturating_add);
    let mut left = budget.saturating_sub(held);
    let allows = |&(bytes, is_held): &Need| {
        let fits = bytes <= left;
        left -= if fits && !is_held { bytes } else { 0 };
        fits || is_held
    };
    needs.iter().map(allows).collect()
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
    waiting: VecDeque<Wanted>,
    /// The tables whose filters are being built, one a thread.
    at_work: Vec<Wanted>,
    threads: usize,
}

impl FilterMaker {
    /// Builds the missing filters of these segments that the budget allows, and no others.
    pub(crate) fn want(&self, segments: &[Arc<Segment>], context: &StoreContext, when: Filters) {
        let none =
            when == Filters::Off || !are_useful(context) || segments.iter().all(|segment| bytes_of(segment) == 0);
        let budget = if none { 0 } else { context.filter_budget() };
        let mut tables = self.work.tables.lock();
        tables.waiting = if none { VecDeque::new() } else { tables.missing(segments, budget) };
        let threads = context.options.executor.threads().min(tables.waiting.len()).saturating_sub(tables.threads);
        tables.threads += threads;
        drop(tables);
        let mut handles = self.threads.lock();
        handles.retain(|handle| !handle.is_finished());
        for _ in 0..threads {
            let work = Arc::clone(&self.work);
            // Not on a crew: a thread of the crew may wait for the filters. Without these threads queries are only
            // slower. They outlive the operation that starts them.
            match spawn_background("fpstore filters", move || work.make()) {
                Ok(handle) => handles.push(handle),
                Err(_) => self.work.end_of_thread(self.work.tables.lock()),
            }
        }
        drop(handles);
        if when == Filters::AtOpen {
            self.wait();
        }
    }

    pub(crate) fn wait(&self) {
        let mut tables = self.work.tables.lock();
        while tables.threads > 0 {
            tables = self.work.changed.wait(tables);
        }
    }
}

impl Tables {
    /// The tables whose filters are neither built nor being built, within the budget.
    fn missing(&self, segments: &[Arc<Segment>], budget: u64) -> VecDeque<Wanted> {
        let (wanted, needs) = wanted(segments, &self.at_work);
        let allowed = allowed(&needs, budget);
        let chosen =
            wanted.into_iter().zip(needs).zip(allowed).filter(|((_, (_, is_held)), allowed)| *allowed && !is_held);
        chosen.map(|((wanted, _), _)| wanted).collect()
    }
}

impl FilterQueue {
    /// Builds the waiting filters. A table that cannot be read has no filter; a query of it returns the error.
    fn make(&self) {
        let mut tables = self.tables.lock();
        while let Some(wanted) = tables.waiting.pop_front().filter(|_| !self.stop.load(Ordering::Relaxed)) {
            tables.at_work.push(wanted.clone());
            drop(tables);
            let (segment, number) = wanted;
            if let Some(table) = segment.tables().get(number) {
                // After a panic of the environment, the thread goes on with other tables; `wait` waits for it.
                let _ = catch_unwind(AssertUnwindSafe(|| table.build_filter(&self.stop)));
                if table.filter().is_none() && !self.stop.load(Ordering::Relaxed) {
                    table.set_filter_failed();
                }
            }
            tables = self.tables.lock();
            tables.at_work.retain(|(other, of_other)| !Arc::ptr_eq(&segment, other) || number != *of_other);
        }
        self.end_of_thread(tables);
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

    #[test]
    fn the_budget_is_granted_table_by_table() {
        let sizes = [(50, false), (50, false), (20, false), (5, false)];
        for (budget, expected) in [
            (0, [false, false, false, false]),
            (49, [false, false, true, true]),
            (50, [true, false, false, false]),
            (99, [true, false, true, true]),
            (100, [true, true, false, false]),
            (125, [true, true, true, true]),
            (u64::MAX, [true, true, true, true]),
        ] {
            assert_eq!(allowed(&sizes, budget), expected, "{budget}");
        }
    }

    #[test]
    fn held_filters_come_first() {
        let sizes = [(50, false), (20, false), (50, true)];
        assert_eq!(allowed(&sizes, 99), [false, true, true]);
        assert_eq!(allowed(&sizes, 69), [false, false, true]);
        assert_eq!(allowed(&sizes, 10), [false, false, true]);
        assert_eq!(allowed(&sizes, 120), [true, true, true]);
        assert_eq!(allowed(&[(u64::MAX, true), (u64::MAX, true), (1, false)], u64::MAX), [true, true, false]);
    }
}
