//! Makes the prefix filters of an open store, while queries already run or before the first one.

use super::core::lock;
use crate::options::{Filters, Options};
use crate::plan::filter_shape::FilterShape;
use crate::segment::{Segment, Table};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Bytes of memory of the filters of a segment's tables.
pub(super) fn bytes_of(segment: &Segment) -> u64 {
    segment.tables().iter().filter_map(Table::filter_shape).map(FilterShape::bytes).sum()
}

/// The threads that make filters, as long as there are some to be made. Dropping it ends the work.
///
/// When segments come and go, what is being made for one that stays is not begun anew.
#[derive(Debug, Default)]
pub(super) struct FilterMaker {
    work: Arc<Work>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Work {
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
    /// Begins with, or makes, the filters that the options want and that are not there yet, and no others.
    pub(super) fn want(&self, segments: &[Arc<Segment>], options: &Options, when: Filters) {
        let mut left = options.filter_memory;
        let fits = |segment: &&Arc<Segment>| {
            let bytes = bytes_of(segment);
            let fits = bytes <= left;
            left -= if fits { bytes } else { 0 };
            fits && bytes > 0
        };
        let mut tables = lock(&self.work.tables);
        let is_at_work = |segment: &Arc<Segment>, number| {
            tables.at_work.iter().any(|(other, of_other)| Arc::ptr_eq(segment, other) && number == *of_other)
        };
        let mut waiting = VecDeque::new();
        for segment in segments.iter().filter(fits).filter(|_| when != Filters::Off) {
            let missing = segment.tables().iter().enumerate().filter(|(_, table)| table.filter().is_none());
            let numbers = missing.map(|(number, _)| number).filter(|&number| !is_at_work(segment, number));
            waiting.extend(numbers.map(|number| (Arc::clone(segment), number)));
        }
        tables.waiting = waiting;
        let threads = rayon::current_num_threads().min(tables.waiting.len()).saturating_sub(tables.threads);
        tables.threads += threads;
        drop(tables);
        let mut handles = lock(&self.threads);
        handles.retain(|handle| !handle.is_finished());
        for _ in 0..threads {
            let work = Arc::clone(&self.work);
            // The threads are its own: those of a pool may be the ones that wait for it. Fewer of them only take longer, and
            // without filters queries are slower: no reason to fail.
            match Builder::new().name("fpstore filters".to_owned()).spawn(move || work.make()) {
                Ok(handle) => handles.push(handle),
                Err(_) => lock(&self.work.tables).threads -= 1,
            }
        }
        drop(handles);
        if when == Filters::AtOpen {
            self.wait();
        }
    }

    /// Returns when all filters are there.
    pub(super) fn wait(&self) {
        let mut tables = lock(&self.work.tables);
        while tables.threads > 0 {
            tables = self.work.changed.wait(tables).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Work {
    /// Makes one after the other. A table that cannot be read has no filter; whoever asks it is told what is wrong with it.
    fn make(&self) {
        let mut tables = lock(&self.tables);
        while let Some(wanted) = tables.waiting.pop_front().filter(|_| !self.stop.load(Ordering::Relaxed)) {
            tables.at_work.push(wanted.clone());
            drop(tables);
            let (segment, number) = wanted;
            if let Some(table) = segment.tables().get(number) {
                let _ = table.build_filter(&self.stop);
            }
            tables = lock(&self.tables);
            tables.at_work.retain(|(other, of_other)| !Arc::ptr_eq(&segment, other) || number != *of_other);
        }
        tables.threads -= 1;
        drop(tables);
        self.changed.notify_all();
    }
}

impl Drop for FilterMaker {
    fn drop(&mut self) {
        self.work.stop.store(true, Ordering::Relaxed);
        for handle in lock(&self.threads).drain(..) {
            // It does not panic; and if it did, only filters would be missing.
            let _ = handle.join();
        }
    }
}
