//! The parts of a store at one moment.

use crate::error::Result;
use crate::executor::RwLock;
use crate::fingerprint::{Entry, Fingerprint};
use crate::memtable::Memtable;
use crate::segment::{Segment, SegmentRecords};
use crate::version::newest::NewestEntries;
use crate::version::run::{Run, run_segments};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The parts of a store between two changes of the version set.
#[derive(Debug)]
pub(crate) struct SuperVersion {
    /// Oldest first.
    pub(crate) runs: Vec<Arc<Run>>,
    /// The segments of the runs with records, oldest first.
    pub(crate) segments: Vec<Arc<Segment>>,
    /// For each of `segments` the number of its run.
    pub(crate) run_of: Vec<usize>,
    /// Newer than all runs, oldest first. Only the last one changes.
    pub(crate) memtables: Vec<Arc<Memtable>>,
}

impl SuperVersion {
    pub(crate) fn new(runs: Vec<Arc<Run>>, memtables: Vec<Arc<Memtable>>) -> Self {
        let with_records = runs.iter().enumerate().filter_map(|(number, run)| Some((number, run.records.clone()?)));
        let (run_of, segments) = with_records.unzip();
        Self { runs, segments, run_of, memtables }
    }
}

/// A consistent state of the store: a super version, and the number of visible records of its last memtable.
#[derive(Clone, Debug)]
pub(crate) struct ReadView {
    pub(crate) version: Arc<SuperVersion>,
    visible: u32,
}

impl ReadView {
    pub(crate) fn of(version: Arc<SuperVersion>) -> Self {
        let visible = version.memtables.last().map_or(0, |memtable| memtable.visible());
        Self { version, visible }
    }

    /// The same state with only these segments, and without runs.
    pub(crate) fn part(state: &Self, segments: Vec<Arc<Segment>>) -> Self {
        let memtables = state.version.memtables.clone();
        let version = SuperVersion { runs: Vec::new(), run_of: Vec::new(), segments, memtables };
        Self { version: Arc::new(version), visible: state.visible }
    }

    pub(crate) fn visible(&self) -> u32 {
        self.visible
    }

    #[inline]
    pub(crate) fn catch_up(&mut self) {
        self.visible = self.version.memtables.last().map_or(0, |memtable| memtable.visible());
    }

    /// The memtables, oldest first, with their numbers of visible records.
    pub(crate) fn memtables(&self) -> impl DoubleEndedIterator<Item = (&Arc<Memtable>, u32)> + ExactSizeIterator {
        let last = self.version.memtables.len().saturating_sub(1);
        let seen = move |(number, memtable): (usize, _)| {
            let memtable: &Arc<Memtable> = memtable;
            (memtable, if number == last { self.visible } else { memtable.visible() })
        };
        self.version.memtables.iter().enumerate().map(seen)
    }

    pub(crate) fn has_tombstones(&self) -> bool {
        self.version.runs.iter().any(|run| run.tombstones.is_some())
            || self.version.memtables.iter().any(|memtable| memtable.has_tombstones())
    }

    pub(crate) fn newest_entries<F: Fingerprint>(&self) -> NewestEntries<F> {
        let mut newest = NewestEntries::default();
        for (memtable, visible) in self.memtables().rev().filter(|(memtable, _)| !memtable.is_empty()) {
            newest.add_entries(memtable.entries(visible));
        }
        add_runs(&mut newest, &self.version.runs);
        newest
    }
}

/// The newest entries, in order, of memtables with their numbers of visible records, newest first.
pub(crate) fn newest_entries<'a, F: Fingerprint>(
    memtables: impl Iterator<Item = (&'a Arc<Memtable>, u32)>,
) -> impl Iterator<Item = Result<Entry<F>>> {
    let mut newest = NewestEntries::default();
    memtables.for_each(|(memtable, visible)| newest.add_entries(memtable.entries(visible)));
    newest.map(|newest| newest.map(|newest| newest.entry))
}

/// Adds runs, given oldest first, as the oldest sources.
pub(crate) fn add_runs<F: Fingerprint>(newest: &mut NewestEntries<F>, runs: &[Arc<Run>]) {
    run_segments(runs).for_each(|run| newest.add_records(SegmentRecords::new(run.segment), run.is_tombstones));
}

#[derive(Debug)]
pub(crate) struct LatestVersion {
    latest: RwLock<Arc<SuperVersion>>,
    /// Increases with every super version.
    number: AtomicU64,
}

impl LatestVersion {
    pub(crate) fn new(first: SuperVersion) -> Self {
        Self { latest: RwLock::new(Arc::new(first)), number: AtomicU64::new(0) }
    }

    /// The number of the current super version, or of one before it.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    pub(crate) fn super_version(&self) -> Arc<SuperVersion> {
        Arc::clone(&self.latest.read())
    }

    pub(crate) fn read_view(&self) -> ReadView {
        ReadView::of(self.super_version())
    }

    /// Replaces the super version, and returns the previous one. Dropping that may take long, so the caller holds no
    /// lock then.
    pub(crate) fn publish(&self, next: SuperVersion) -> Arc<SuperVersion> {
        let next = Arc::new(next);
        let before = std::mem::replace(&mut *self.latest.write(), next);
        self.number.fetch_add(1, Ordering::Release);
        before
    }
}
