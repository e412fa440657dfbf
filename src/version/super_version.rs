//! What a store holds at one moment.

use crate::error::Result;
use crate::fingerprint::{Entry, Fingerprint};
use crate::memtable::Memtable;
use crate::segment::Segment;
use crate::version::newest::NewestEntries;
use crate::version::run::Run;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The parts that a store consists of, between one change of them and the next.
#[derive(Debug)]
pub(crate) struct SuperVersion {
    /// Oldest first.
    pub(crate) runs: Vec<Arc<Run>>,
    /// Those segments of the runs that have records, oldest first.
    pub(crate) segments: Vec<Arc<Segment>>,
    /// For each of these the number of its run.
    pub(crate) run_of: Vec<usize>,
    /// Newer than all runs, oldest first. All but the last one do not change any more.
    pub(crate) memtables: Vec<Arc<Memtable>>,
}

impl SuperVersion {
    pub(crate) fn new(runs: Vec<Arc<Run>>, memtables: Vec<Arc<Memtable>>) -> Self {
        let with_records = runs.iter().enumerate().filter_map(|(number, run)| Some((number, run.records.clone()?)));
        let (run_of, segments) = with_records.unzip();
        Self { runs, segments, run_of, memtables }
    }
}

/// A view, and how much of its last memtable is seen: one consistent state of the store, for as long as it is kept.
#[derive(Clone, Debug)]
pub(crate) struct ReadView {
    pub(crate) view: Arc<SuperVersion>,
    visible: u32,
}

impl ReadView {
    /// The state of now.
    pub(crate) fn of(view: Arc<SuperVersion>) -> Self {
        let visible = view.memtables.last().map_or(0, |memtable| memtable.visible());
        Self { view, visible }
    }

    /// The same state without runs but for these segments of it.
    pub(crate) fn part(state: &Self, segments: Vec<Arc<Segment>>) -> Self {
        let memtables = state.view.memtables.clone();
        let view = SuperVersion { runs: Vec::new(), run_of: Vec::new(), segments, memtables };
        Self { view: Arc::new(view), visible: state.visible }
    }

    /// How many records of the last memtable are seen.
    pub(crate) fn visible(&self) -> u32 {
        self.visible
    }

    /// Sees what was published since.
    #[inline]
    pub(crate) fn catch_up(&mut self) {
        self.visible = self.view.memtables.last().map_or(0, |memtable| memtable.visible());
    }

    /// The memtables, oldest first, and how many records of each are seen.
    pub(crate) fn memtables(&self) -> impl DoubleEndedIterator<Item = (&Arc<Memtable>, u32)> + ExactSizeIterator {
        let last = self.view.memtables.len().saturating_sub(1);
        let seen = move |(number, memtable): (usize, _)| {
            let memtable: &Arc<Memtable> = memtable;
            (memtable, if number == last { self.visible } else { memtable.visible() })
        };
        self.view.memtables.iter().enumerate().map(seen)
    }

    /// Whether anything may hide records that are stored.
    pub(crate) fn has_tombstones(&self) -> bool {
        self.view.runs.iter().any(|run| run.tombstones.is_some())
            || self.view.memtables.iter().any(|memtable| memtable.has_tombstones())
    }

    /// The last word on every record, in order.
    pub(crate) fn merge<F: Fingerprint>(&self) -> NewestEntries<F> {
        let mut merge = NewestEntries::default();
        for (memtable, visible) in self.memtables().rev().filter(|(memtable, _)| !memtable.is_empty()) {
            merge.add_entries(memtable.entries(visible));
        }
        add_runs(&mut merge, &self.view.runs);
        merge
    }
}

/// What memtables say, newest first and of so many records each: the last word on every record, in order.
pub(crate) fn newest_entries<'a, F: Fingerprint>(
    memtables: impl Iterator<Item = (&'a Arc<Memtable>, u32)>,
) -> Result<Vec<Entry<F>>> {
    let mut merge = NewestEntries::default();
    memtables.for_each(|(memtable, visible)| merge.add_entries(memtable.entries(visible)));
    merge.map(|word| word.map(|word| word.entry)).collect()
}

/// Adds runs, which stand oldest first.
pub(crate) fn add_runs<F: Fingerprint>(merge: &mut NewestEntries<F>, runs: &[Arc<Run>]) {
    for layer in runs.iter().rev().flat_map(|run| run.layers()) {
        merge.add_segment(&layer.segment, layer.removed);
    }
}

/// The view of now, to be asked for by any number of threads.
#[derive(Debug)]
pub(crate) struct LatestVersion {
    view: RwLock<Arc<SuperVersion>>,
    /// Another number for every view.
    version: AtomicU64,
}

impl LatestVersion {
    pub(crate) fn new(view: SuperVersion) -> Self {
        Self { view: RwLock::new(Arc::new(view)), version: AtomicU64::new(0) }
    }

    /// The number of the view of now, or of one before it.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The view of now.
    pub(crate) fn view(&self) -> Arc<SuperVersion> {
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The state of now.
    pub(crate) fn state(&self) -> ReadView {
        ReadView::of(self.view())
    }

    /// Puts another view in the place of the one before, and returns that: dropping it may take long, which no reader is to
    /// wait for.
    pub(crate) fn publish(&self, view: SuperVersion) -> Arc<SuperVersion> {
        let view = Arc::new(view);
        let before = std::mem::replace(&mut *self.view.write().unwrap_or_else(PoisonError::into_inner), view);
        self.version.fetch_add(1, Ordering::Release);
        before
    }
}
