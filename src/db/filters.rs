//! Makes the prefix filters of an open store, while queries already run or before the first one.
//!
//! Filters together take no more memory than a budget. It is granted table by table: first to the filters that are there or
//! being made, then to those of the oldest segments. A table whose filter does not fit is left out; queries then read
//! more of its blocks. The filter of a segment that leaves the store counts no longer.

use crate::db::lock::lock;
use crate::executor::spawn;
use crate::options::Filters;
use crate::plan::filter_shape::FilterShape;
use crate::segment::{Segment, Table};
use crate::version::StoreContext;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Prefix filters of a store ([`crate::Filters`]), in bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterStatistics {
    /// Filters of all tables that are large enough to profit from one.
    pub wanted_bytes: u64,
    /// Filters that are there now.
    pub built_bytes: u64,
    /// Wanted filters that do not fit the budget, whether the others are made or not ([`crate::Filters::Off`]).
    pub refused_bytes: u64,
    /// Filters that fit the budget and could not be made: their table cannot be read, or the system gave no memory.
    pub failed_bytes: u64,
    /// The most that filters may take ([`crate::Options::with_filter_memory`]).
    pub budget_bytes: u64,
}

/// Bytes of memory of the filters of a segment's tables.
pub(crate) fn bytes_of(segment: &Segment) -> u64 {
    segment.tables().iter().filter_map(Table::filter_shape).map(FilterShape::bytes).sum()
}

/// Sizes of the filters of segments, oldest first, within a budget.
pub(crate) fn statistics(segments: &[Arc<Segment>], budget: u64) -> FilterStatistics {
    let tables = || segments.iter().flat_map(|segment| segment.tables());
    let wanted: Vec<_> = tables().filter_map(|table| Some((table, table.filter_shape()?.bytes()))).collect();
    let needs: Vec<_> =
        wanted.iter().map(|&(table, bytes)| Need { bytes, is_held: table.filter().is_some() }).collect();
    let mut statistics = FilterStatistics { budget_bytes: budget, ..FilterStatistics::default() };
    for ((need, allowed), (table, _)) in needs.iter().zip(allowed(&needs, budget)).zip(wanted) {
        statistics.wanted_bytes += need.bytes;
        let part = match (need.is_held, allowed) {
            (true, _) => &mut statistics.built_bytes,
            (false, false) => &mut statistics.refused_bytes,
            (false, true) if table.filter_failed() => &mut statistics.failed_bytes,
            (false, true) => continue,
        };
        *part += need.bytes;
    }
    statistics
}

/// The filter that a table wants.
#[derive(Clone, Copy, Debug)]
struct Need {
    bytes: u64,
    /// Whether its memory is taken: the filter is there, or being made.
    is_held: bool,
}

/// Which of the filters a budget allows. What is held comes first, then each that still fits, in their order.
fn allowed(needs: &[Need], budget: u64) -> Vec<bool> {
    let held = needs.iter().filter(|need| need.is_held).map(|need| need.bytes).fold(0, u64::saturating_add);
    let mut left = budget.saturating_sub(held);
    let mut allows = |need: &Need| {
        let fits = need.bytes <= left;
        left -= if fits && !need.is_held { need.bytes } else { 0 };
        fits || need.is_held
    };
    needs.iter().map(&mut allows).collect()
}

/// The threads that make filters, as long as there are some to be made. Dropping it ends the work.
///
/// When segments come and go, what is being made for one that stays is not begun anew.
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

/// A table: its segment and its number.
type Wanted = (Arc<Segment>, usize);

#[derive(Debug, Default)]
struct Tables {
    /// Oldest segments first.
    waiting: VecDeque<Wanted>,
    /// One for each thread that is at work.
    at_work: Vec<Wanted>,
    threads: usize,
}

impl FilterMaker {
    /// Begins with, or makes, the filters that the options want and the budget allows and that are not there yet, and no
    /// others.
    pub(crate) fn want(&self, segments: &[Arc<Segment>], context: &StoreContext, when: Filters) {
        let none = when == Filters::Off || segments.iter().all(|segment| bytes_of(segment) == 0);
        let budget = if none { 0 } else { context.filter_budget() };
        let mut tables = lock(&self.work.tables);
        tables.waiting = if none { VecDeque::new() } else { tables.missing(segments, budget) };
        let threads = context.options.executor.threads().min(tables.waiting.len()).saturating_sub(tables.threads);
        tables.threads += threads;
        drop(tables);
        let mut handles = lock(&self.threads);
        handles.retain(|handle| !handle.is_finished());
        for _ in 0..threads {
            let work = Arc::clone(&self.work);
            // The threads are its own: those of a pool may be the ones that wait for it. Fewer of them only take longer, and
            // without filters queries are slower: no reason to fail.
            match spawn("fpstore filters", move || work.make()) {
                Ok(handle) => handles.push(handle),
                Err(_) => self.work.end_of_thread(lock(&self.work.tables)),
            }
        }
        drop(handles);
        if when == Filters::AtOpen {
            self.wait();
        }
    }

    /// Returns when all filters are there.
    pub(crate) fn wait(&self) {
        let mut tables = lock(&self.work.tables);
        while tables.threads > 0 {
            tables = self.work.changed.wait(tables).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Tables {
    /// The tables whose filters are to be made: neither there nor being made, and within the budget.
    fn missing(&self, segments: &[Arc<Segment>], budget: u64) -> VecDeque<Wanted> {
        let is_at_work = |segment: &Arc<Segment>, number| {
            self.at_work.iter().any(|(other, of_other)| Arc::ptr_eq(segment, other) && number == *of_other)
        };
        let (mut wanted, mut needs) = (Vec::new(), Vec::new());
        for segment in segments {
            for (number, table) in segment.tables().iter().enumerate() {
                let Some(shape) = table.filter_shape() else { continue };
                let is_held = table.filter().is_some() || is_at_work(segment, number);
                wanted.push((Arc::clone(segment), number));
                needs.push(Need { bytes: shape.bytes(), is_held });
            }
        }
        let allowed = allowed(&needs, budget);
        let chosen =
            wanted.into_iter().zip(needs).zip(allowed).filter(|((_, need), allowed)| *allowed && !need.is_held);
        chosen.map(|((wanted, _), _)| wanted).collect()
    }
}

impl FilterQueue {
    /// Makes one after the other. A table that cannot be read has no filter; a query of it returns the error.
    fn make(&self) {
        let mut tables = lock(&self.tables);
        while let Some(wanted) = tables.waiting.pop_front().filter(|_| !self.stop.load(Ordering::Relaxed)) {
            tables.at_work.push(wanted.clone());
            drop(tables);
            let (segment, number) = wanted;
            if let Some(table) = segment.tables().get(number) {
                // An environment may panic. That leaves nothing behind but a part of the filter, which is dropped; the
                // thread has other tables to go on with, and `wait` waits for it.
                let _ = catch_unwind(AssertUnwindSafe(|| table.build_filter(&self.stop)));
                if table.filter().is_none() && !self.stop.load(Ordering::Relaxed) {
                    table.set_filter_failed();
                }
            }
            tables = lock(&self.tables);
            tables.at_work.retain(|(other, of_other)| !Arc::ptr_eq(&segment, other) || number != *of_other);
        }
        self.end_of_thread(tables);
    }

    /// Counts a thread less, in the same hold of the lock in which it found nothing to do.
    fn end_of_thread(&self, mut tables: MutexGuard<'_, Tables>) {
        tables.threads -= 1;
        drop(tables);
        self.changed.notify_all();
    }
}

impl Drop for FilterMaker {
    fn drop(&mut self) {
        self.work.stop.store(true, Ordering::Relaxed);
        for handle in lock(&self.threads).drain(..) {
            // Panics do not reach its end; if one did, only filters would be missing.
            let _ = handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a budget allows of filters of these sizes; those that are there are marked.
    fn allowed_of(sizes: &[(u64, bool)], budget: u64) -> Vec<bool> {
        let needs: Vec<_> = sizes.iter().map(|&(bytes, is_held)| Need { bytes, is_held }).collect();
        allowed(&needs, budget)
    }

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
            assert_eq!(allowed_of(&sizes, budget), expected, "{budget}");
        }
    }

    #[test]
    fn filters_that_are_there_come_first() {
        let sizes = [(50, false), (20, false), (50, true)];
        assert_eq!(allowed_of(&sizes, 99), [false, true, true]);
        assert_eq!(allowed_of(&sizes, 69), [false, false, true]);
        assert_eq!(allowed_of(&sizes, 10), [false, false, true]);
        assert_eq!(allowed_of(&sizes, 120), [true, true, true]);
        assert_eq!(allowed_of(&[(u64::MAX, true), (u64::MAX, true), (1, false)], u64::MAX), [true, true, false]);
    }
}
