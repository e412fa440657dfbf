//! Makes the prefix filters of an open store, while queries already run or before the first one.

use crate::options::{Filters, Options};
use crate::plan::filter_shape::FilterShape;
use crate::segment::{Segment, Table};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Bytes of memory of the filters of a segment's tables.
pub(super) fn bytes_of(segment: &Segment) -> u64 {
    segment.tables().iter().filter_map(Table::filter_shape).map(FilterShape::bytes).sum()
}

/// The thread that makes filters. Dropping it ends the work.
#[derive(Debug, Default)]
pub(super) struct FilterMaker {
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl FilterMaker {
    /// Begins with, or makes, the filters that the options want and that are not there yet.
    pub(super) fn begin(segments: &[Arc<Segment>], options: &Options) -> Self {
        let mut left = options.filter_memory;
        let wanted: Vec<_> = segments
            .iter()
            .filter(|segment| {
                let bytes = bytes_of(segment);
                let fits = bytes <= left;
                left -= if fits { bytes } else { 0 };
                fits && bytes > 0 && segment.tables().iter().any(|table| table.filter().is_none())
            })
            .cloned()
            .collect();
        let mut maker = Self::default();
        if wanted.is_empty() {
            return maker;
        }
        match options.filters {
            Filters::Off => {}
            Filters::AtOpen => make(&wanted, &maker.stop),
            Filters::Background => {
                let stop = Arc::clone(&maker.stop);
                let thread = std::thread::Builder::new().name("fpstore filters".to_owned());
                // Without a thread there are no filters, and queries are slower: no reason to fail.
                maker.thread = Mutex::new(thread.spawn(move || make(&wanted, &stop)).ok());
            }
        }
        maker
    }

    /// Returns when all filters are there.
    pub(super) fn wait(&self) {
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It does not panic; and if it did, only filters would be missing.
            let _ = thread.join();
        }
    }
}

impl Drop for FilterMaker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.wait();
    }
}

/// One table a thread. The threads are its own: those of a pool may be the ones that wait for it. A table that cannot
/// be read has no filter; whoever asks it is told what is wrong with it.
fn make(segments: &[Arc<Segment>], stop: &AtomicBool) {
    let tables: Vec<&Table> = segments.iter().flat_map(|segment| segment.tables()).collect();
    let threads = rayon::current_num_threads().min(tables.len());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(table) = tables.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _ = table.build_filter(stop);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Fewer threads only take longer.
            let _ = std::thread::Builder::new().name("fpstore filters".to_owned()).spawn_scoped(scope, work);
        }
        work();
    });
}
