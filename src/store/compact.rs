//! Merging runs.
//!
//! Nothing that a reader sees changes: one run says what several neighbours said, and takes their place in one step. What
//! goes wrong leaves the store as it was; what is interrupted goes on later. Specified in format-spec/runs.md and
//! format-spec/store.md, Merging.

use super::apart;
use super::core::{Core, lock};
use super::directory::merge_range;
use super::estimate::Estimate;
use super::run::Run;
use super::segments::{Making, RunParts, bytes_of};
use super::view::add_runs;
use crate::bulk::{Expected, Pace, Workspace, batches};
use crate::compaction::{self, RunSize};
use crate::error::{ErrorKind, Result};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::merge::{Dead, LastWord, Merge, MergedTables};
use crate::segment::{Checkpoints, Segment, checkpoints};
use std::ops::Range;
use std::sync::{Arc, MutexGuard, TryLockError};

/// Bytes of texts for each byte of theirs in a segment, about: only the size of a dictionary follows from it.
pub(super) const TEXTS_OF_COMPRESSED: u64 = 3;

impl<F: Fingerprint> Core<F> {
    /// Merges what is due; whether anything was. At the pace, if one is given.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading; `Io` from writing: the store is as before. `Stopped`.
    pub(super) fn compact_due(&self, pace: Option<&Pace>) -> Result<bool> {
        self.compact(pace, |runs| self.unfinished(runs).or_else(|| due(runs)))
    }

    /// The runs whose merging an earlier process has begun.
    fn unfinished(&self, runs: &[Arc<Run>]) -> Option<Range<usize>> {
        let begun = checkpoints::read(&**self.common.env(), &self.common.path)?;
        let entries: Vec<_> = runs.iter().map(|run| run.entry).collect();
        merge_range(&begun.inputs, &entries)
    }

    /// Removes what is left of a merge of runs that are not there any more. The caller holds the lock of who merges.
    pub(super) fn forget_merge_of_what_is_gone(&self) {
        if !self.has_unfinished_merge() {
            // What cannot be removed now is removed when the next merge begins, or the store is opened.
            let _ = checkpoints::forget(&**self.common.env(), &self.common.path);
        }
    }

    /// Whether an earlier process has begun to merge runs that are still there.
    pub(super) fn has_unfinished_merge(&self) -> bool {
        // Nobody waits for the tree while files are read.
        let runs = self.tree().runs.clone();
        self.unfinished(&runs).is_some()
    }

    /// Makes one run of all; whether there were several, or removals in the only one.
    ///
    /// # Errors
    /// Those of [`Core::compact_due`].
    pub(super) fn compact_all(&self) -> Result<bool> {
        self.compact(None, |runs| {
            let removals = runs.iter().any(|run| run.removals.is_some());
            (runs.len() > 1 || removals).then_some(0..runs.len())
        })
    }

    fn compact(&self, pace: Option<&Pace>, which: impl Fn(&[Arc<Run>]) -> Option<Range<usize>> + Send) -> Result<bool> {
        apart::run(|| self.compact_those(pace, which))
    }

    fn compact_those(&self, pace: Option<&Pace>, which: impl Fn(&[Arc<Run>]) -> Option<Range<usize>>) -> Result<bool> {
        let _compacting = self.lock_merging();
        let mut merged_any = false;
        loop {
            self.check_poison()?;
            let runs = self.tree().runs.clone();
            let Some(range) = which(&runs) else { return Ok(merged_any) };
            let runs = runs.get(range.clone()).unwrap_or_default();
            let workspace = if pace.is_some() { self.workspace() } else { self.foreground_workspace() };
            let step = || pace.map_or(Ok(()), Pace::step);
            let checkpoints = Checkpoints::begin(self.common.env(), &self.common.path, inputs_of(runs), &step)?;
            // What is written stays for when there is room.
            self.check_room_to_merge(runs, checkpoints.written())?;
            let checkpoints = Arc::new(checkpoints);
            let merged = self.merge_runs(runs, range.start == 0, &workspace, pace, Some(&checkpoints));
            let merged = merged.inspect_err(|error| {
                // Whoever fails begins anew, so that what fails is not kept.
                if error.kind() != ErrorKind::Stopped {
                    let _ = checkpoints.forget();
                }
            })?;
            let bytes = merged.bytes();
            let ends =
                runs.first().zip(runs.last()).map_or((0, 0), |(first, last)| (first.entry.first, last.entry.last));
            let new: Vec<_> = merged.into_run(ends.0, ends.1).into_iter().collect();
            self.install(
                &new,
                |manifest, all| {
                    manifest.written.merged = manifest.written.merged.saturating_add(bytes);
                    splice(all, runs, &new);
                },
                |_| (),
            )?;
            // What is left is removed when the next merge begins, or the store is opened.
            let _ = checkpoints.forget();
            merged_any = true;
            if pace.is_none() {
                continue;
            }
            return Ok(true);
        }
    }

    /// The lock of who merges. A merge that goes on in the background is hurried up.
    pub(super) fn lock_merging(&self) -> MutexGuard<'_, ()> {
        match self.compacting.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.pace.hurry(true);
                let guard = lock(&self.compacting);
                self.pace.hurry(false);
                guard
            }
        }
    }

    /// What merging may use while somebody waits for it.
    pub(super) fn foreground_workspace(&self) -> Workspace {
        Workspace::new(&self.common.path, &self.common.options)
    }

    /// Refuses to merge what there is no room for, of which so many bytes are written already.
    ///
    /// # Errors
    /// `Io` if there is too little room.
    pub(super) fn check_room_to_merge(&self, runs: &[Arc<Run>], written: u64) -> Result<()> {
        let records = |segment: Option<&Arc<Segment>>| segment.map_or(0, |segment| segment.footer().records);
        let sum = |of: &dyn Fn(&Run) -> u64| runs.iter().map(|run| of(run)).fold(0, u64::saturating_add);
        Estimate::of(&self.common).check_merge(
            sum(&|run| run.records.as_ref().map_or(0, |segment| segment.file().length())),
            sum(&|run| records(run.records.as_ref())),
            sum(&|run| records(run.removals.as_ref())),
            written,
        )
    }

    /// The segments of one run of neighbours. `is_oldest` says whether there is nothing older than they are.
    pub(super) fn merge_runs(
        &self,
        runs: &[Arc<Run>],
        is_oldest: bool,
        workspace: &Workspace,
        pace: Option<&Pace>,
        checkpoints: Option<&Arc<Checkpoints>>,
    ) -> Result<RunParts> {
        let segments: Vec<Arc<Segment>> = runs.iter().filter_map(|run| run.records.clone()).collect();
        let sum = |of: fn(&Segment) -> u64| segments.iter().map(|segment| of(segment)).fold(0, u64::saturating_add);
        let estimate = Estimate::of(&self.common);
        let removals = runs.iter().filter_map(|run| run.removals.as_ref());
        let index = estimate.index_bytes(sum(|segment| segment.footer().fingerprints));
        let workspace = workspace.without(sum(Segment::resident_bytes).saturating_add(index));
        let layouts = self.common.parameters.design().tables(F::WIDTH)?;
        let dead_memory = workspace.memory_of_fingerprints();
        let dead = Dead::new(&layouts, &workspace, dead_memory);
        let tables = MergedTables::new(&segments, &dead, dead_memory);
        let text_bytes = sum(|segment| segment.footer().ids.length).saturating_mul(TEXTS_OF_COMPRESSED);
        let making = Making {
            expected: Expected { text_bytes, ..Expected::default() },
            // The keys of wide fingerprints name rows, which are other ones now.
            others: if F::WIDTH == 64 { Some(&tables) } else { None },
            pace,
            checkpoints,
            ..Making::new(&workspace)
        };
        let merge = || {
            let mut merge = Merge::<F>::default();
            add_runs(&mut merge, runs);
            merge
        };
        let live = Live { words: merge(), dead: &dead, current: None };
        let records = self.maker().records(making, batches(live, workspace.memory_of_batches()))?;
        let removals = || {
            if is_oldest || removals.count() == 0 {
                return Ok(None);
            }
            let removed = merge().filter_map(|word| match word {
                Ok(LastWord { mention, .. }) if mention.removed && mention.record.id != Id::Count(0) => {
                    Some(Ok(mention.record))
                }
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            });
            self.maker().removals(making, batches(removed, workspace.memory_of_batches()))
        };
        let run = removals().and_then(|removals| self.maker().run::<F>(removals, records.clone(), making));
        run.inspect_err(|error| {
            let Some((_, segment)) = &records else { return };
            if let (ErrorKind::Stopped, Some(checkpoints)) = (error.kind(), checkpoints) {
                checkpoints.take_back(segment.path());
            }
            segment.retire(&self.common.remover);
        })
    }
}

/// Puts runs in the place of others, which stand next to each other.
fn splice(all: &mut Vec<Arc<Run>>, old: &[Arc<Run>], new: &[Arc<Run>]) {
    let at = old.first().and_then(|first| all.iter().position(|run| Arc::ptr_eq(run, first)));
    if let Some(at) = at {
        all.splice(at..(at + old.len()).min(all.len()), new.iter().cloned());
    }
}

/// The numbers of the segments of runs.
fn inputs_of(runs: &[Arc<Run>]) -> Vec<u64> {
    runs.iter().flat_map(|run| run.entry.segments()).map(|segment| segment.number).collect()
}

/// Which runs are to be merged now.
pub(super) fn due(runs: &[Arc<Run>]) -> Option<Range<usize>> {
    let records = |segment: Option<&Arc<Segment>>| segment.map_or(0, |segment| segment.footer().records);
    let size = |run: &Arc<Run>| RunSize {
        bytes: bytes_of(&run.entry),
        records: records(run.records.as_ref()),
        removals: records(run.removals.as_ref()),
    };
    compaction::due(&runs.iter().map(size).collect::<Vec<_>>())
}

/// The records that are left, and on the way the fingerprints of which none is.
struct Live<'a, F: Fingerprint> {
    words: Merge<F>,
    dead: &'a Dead,
    /// The fingerprint at hand; whether it is in tables, and whether any record of it is left.
    current: Option<(F, bool, bool)>,
}

impl<F: Fingerprint> Live<'_, F> {
    /// Notes what is known of the fingerprint at hand when the next one comes.
    fn turn(&mut self, next: Option<F>) -> Result<()> {
        if let Some((fingerprint, stored, left)) = self.current
            && next != Some(fingerprint)
        {
            if stored && !left {
                self.dead.push(fingerprint)?;
            }
            self.current = None;
        }
        if let Some(next) = next {
            self.current.get_or_insert((next, false, false));
        }
        Ok(())
    }
}

impl<F: Fingerprint> Iterator for Live<'_, F> {
    type Item = Result<Record<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let LastWord { mention, stored } = match self.words.next() {
                Some(Ok(word)) => word,
                Some(Err(error)) => return Some(Err(error)),
                None => return self.turn(None).err().map(Err),
            };
            if let Err(error) = self.turn(Some(mention.record.fingerprint)) {
                return Some(Err(error));
            }
            if let Some((_, in_tables, left)) = &mut self.current {
                *in_tables |= stored;
                *left |= !mention.removed;
            }
            if !mention.removed {
                return Some(Ok(mention.record));
            }
        }
    }
}
