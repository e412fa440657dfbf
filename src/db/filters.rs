//! Builds the prefix filters of an open store, before the first query or in the background.
//!
//! A budget limits the memory of all filters. It goes first to the filters that are built or being built, then to those of the
//! oldest segments, table by table. A table whose filter does not fit has none; queries then read more of its blocks.

use crate::executor::spawn;
use crate::options::Filters;
use crate::plan::filter_shape::FilterShape;
use crate::segment::{Segment, Table};
use crate::version::StoreContext;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Bytes of memory of the filters of a segment's tables.
pub(crate) fn bytes_of(segment: &Segment) -> u64 {
    segment.tables().iter().filter_map(Table::filter_shape).map(FilterShape::bytes).sum()
}

/// `segments` are oldest first.
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

#[derive(Clone, Copy, Debug)]
struct Need {
    bytes: u64,
    /// The filter is built or being built.
    is_held: bool,
}

/// The filters that a budget allows: those that are held, then each that still fits, in order.
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

/// A table by its segment and number.
type Wanted = (Arc<Segment>, usize);

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
        let none = when == Filters::Off || segments.iter().all(|segment| bytes_of(segment) == 0);
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
            // Not on a crew: a thread of the crew may wait for the filters. Without these threads queries are only slower.
            match spawn("fpstore filters", move || work.make()) {
                Ok(handle) => handles.push(handle),
                Err(_) => self.work.end_of_thread(self.work.tables.lock()),
            }
        }
        drop(handles);
        if when == Filters::AtOpen {
            self.wait();
        }
    }

    /// Returns when all filters are built.
    pub(crate) fn wait(&self) {
        let mut tables = self.work.tables.lock();
        while tables.threads > 0 {
            self.work.changed.wait(&mut tables);
        }
    }
}

impl Tables {
    /// The tables whose filters are neither built nor being built, within the budget.
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

    /// Counts a thread less, under the same lock under which it found nothing to do.
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

    /// `sizes` are those of filters, with whether they are held.
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
    fn held_filters_come_first() {
        let sizes = [(50, false), (20, false), (50, true)];
        assert_eq!(allowed_of(&sizes, 99), [false, true, true]);
        assert_eq!(allowed_of(&sizes, 69), [false, false, true]);
        assert_eq!(allowed_of(&sizes, 10), [false, false, true]);
        assert_eq!(allowed_of(&sizes, 120), [true, true, true]);
        assert_eq!(allowed_of(&[(u64::MAX, true), (u64::MAX, true), (1, false)], u64::MAX), [true, true, false]);
    }
}
