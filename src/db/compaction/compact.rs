//! Merges neighbouring runs into one, which replaces them in one step. Specified in format-spec/runs.md.

use crate::db::compaction::keys::merged_keys;
use crate::db::compaction::picker::{self, sizes};
use crate::db::compaction::tables::MergedTables;
use crate::db::health::Failing;
use crate::db::run_builder::{Maker, Parts};
use crate::db::store_inner::StoreInner;
use crate::db::version_set::VersionSet;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{RankedGuard, RateLimiter};
use crate::extsort::Workspace;
use crate::fingerprint::{Fingerprint, Id, Record, by_width};
use crate::segment::{Expected, KeySorters, Making, Segment, chunks};
use crate::version::{NewestEntries, NewestEntry, Run, add_runs};
use std::ops::Range;
use std::sync::Arc;

/// Estimated bytes of texts for each byte in a segment; only the size of a dictionary depends on it.
pub(crate) const TEXTS_OF_COMPRESSED: u64 = 3;

impl StoreInner {
    /// Merges all that is due; with a limiter, one range. Returns whether anything was due. Notes errors for the next
    /// attempt.
    pub(crate) fn compact_due(&self, limiter: Option<&RateLimiter>) -> Result<bool> {
        self.context.options.executor.run_exclusive(|| {
            let _compacting = self.lock_compaction();
            let mut merged_any = false;
            loop {
                let versions = self.versions();
                let (runs, due) = (versions.runs.clone(), self.due_now(&versions));
                drop(versions);
                let Some(range) = due else { return Ok(merged_any) };
                let up_to = runs.get(range.clone()).and_then(<[_]>::last).map_or(0, |run| run.entry.last);
                let merged = self.compact_range(&runs, range, limiter);
                merged.inspect_err(|error| self.note_compaction(error, up_to))?;
                merged_any = true;
                if limiter.is_some() {
                    return Ok(true);
                }
            }
        })
    }

    /// The runs that are due now. Until the next attempt, the runs of a failing compaction and older ones are left out.
    pub(crate) fn due_now(&self, versions: &VersionSet) -> Option<Range<usize>> {
        let failing = versions.compacting.as_ref().filter(|failing| failing.pause().is_some());
        let from = failing.map_or(0, |failing| versions.runs.partition_point(|run| run.entry.first <= failing.up_to));
        let due = picker::due(sizes(&versions.runs).get(from..).unwrap_or_default())?;
        Some(from + due.start..from + due.end)
    }

    fn note_compaction(&self, error: &Error, up_to: u64) {
        if error.kind() == ErrorKind::Stopped {
            return;
        }
        let mut versions = self.versions();
        versions.compacting = Some(Failing::again(versions.compacting.as_ref(), error, up_to));
        self.set_pressure(&versions);
        self.changed.notify_all();
    }

    /// Merges all current runs, not those that come meanwhile. Returns false if there was one run at most, without
    /// tombstones.
    pub(crate) fn compact_all(&self) -> Result<bool> {
        let last = self.versions().runs.last().map_or(0, |run| run.entry.last);
        self.context.options.executor.run_exclusive(|| {
            let _compacting = self.lock_compaction();
            let runs = self.versions().runs.clone();
            // A run that another thread has merged from current and later runs counts.
            let there = runs.iter().take_while(|run| run.entry.first <= last).count();
            let tombstones = runs.iter().take(there).any(|run| run.tombstones.is_some());
            if there < 2 && !tombstones {
                return Ok(false);
            }
            self.compact_range(&runs, 0..there, None).map(|()| true)
        })
    }

    /// Merges neighbours and installs the result. The caller holds the compaction lock.
    fn compact_range(&self, all: &[Arc<Run>], range: Range<usize>, limiter: Option<&RateLimiter>) -> Result<()> {
        self.check_poison()?;
        let is_oldest = range.start == 0;
        let runs = all.get(range).unwrap_or_default();
        let workspace = if limiter.is_some() { self.workspace() } else { self.foreground_workspace() };
        self.check_room_to_merge(runs)?;
        let merged = self.merge_runs(self.maker(), runs, is_oldest, &workspace, limiter);
        let merged = merged.inspect_err(|error| self.check_place(error))?;
        let bytes = merged.entry.bytes();
        let ends = runs.first().zip(runs.last()).map_or((0, 0), |(first, last)| (first.entry.first, last.entry.last));
        let net = compacted_net(runs, is_oldest, &merged);
        let new = merged.numbered(ends.0, ends.1, net);
        self.install(
            |manifest, all| {
                // A load may have merged all runs meanwhile; then nothing is replaced.
                if splice(all, runs, new) {
                    manifest.written.compacted = manifest.written.compacted.saturating_add(bytes);
                }
            },
            |versions| _ = versions.compacting.take_if(|failing| (ends.0..=ends.1).contains(&failing.up_to)),
        )
    }

    /// Takes the compaction lock. Unthrottles the compaction that holds it.
    pub(crate) fn lock_compaction(&self) -> RankedGuard<'_, ()> {
        self.compacting.try_lock().unwrap_or_else(|| {
            let _unthrottled = self.limiter.unthrottle_for_caller();
            self.compacting.lock()
        })
    }

    pub(crate) fn foreground_workspace(&self) -> Workspace {
        Workspace::new(&self.context.path, &self.context.options)
    }

    /// The segments of one run of neighbours. `is_oldest`: there are no older runs.
    pub(crate) fn merge_runs(
        &self,
        maker: Maker<'_>,
        runs: &[Arc<Run>],
        is_oldest: bool,
        workspace: &Workspace,
        limiter: Option<&RateLimiter>,
    ) -> Result<Run> {
        let segments: Vec<Arc<Segment>> = runs.iter().filter_map(|run| run.records.clone()).collect();
        let sum = |of: fn(&Segment) -> u64| segments.iter().map(|segment| of(segment)).fold(0, u64::saturating_add);
        let index = self.index_bytes(sum(|segment| segment.footer().fingerprints));
        let workspace = workspace.without(sum(Segment::resident_bytes).saturating_add(index));
        let width = self.context.parameters.width();
        let layouts = self.context.parameters.design().tables(width)?;
        // Tables of wider fingerprints have row numbers, which change: they are not merged.
        let merged = if width == 64 { layouts.get(1..).unwrap_or_default() } else { &[] };
        let dropped = KeySorters::new(merged, &workspace, workspace.memory_of_fingerprints());
        let tables = MergedTables { segments: &segments, dropped: &dropped };
        let text_bytes = sum(|segment| segment.footer().ids.length).saturating_mul(TEXTS_OF_COMPRESSED);
        let making = Making {
            expected: Expected { text_bytes, ..Expected::default() },
            secondary: if width == 64 { Some(&tables) } else { None },
            limiter,
            ..Making::new(&workspace)
        };
        by_width!(width, F => merge_entries::<F>(maker, making, runs, is_oldest, &dropped))
    }
}

fn merge_entries<F: Fingerprint>(
    maker: Maker<'_>,
    making: Making<'_>,
    runs: &[Arc<Run>],
    is_oldest: bool,
    dropped: &KeySorters<'_>,
) -> Result<Run> {
    let merge = || {
        let mut merge = NewestEntries::<F>::default();
        add_runs(&mut merge, runs);
        merge
    };
    let memory = making.workspace.memory_of_chunks();
    let records = maker.records(making, chunks(Live { entries: merge(), dropped, current: None }, memory))?;
    if is_oldest || runs.iter().all(|run| run.tombstones.is_none()) {
        let keys = merged_keys(maker, making, runs, records.as_ref())?;
        return maker.run::<F>(Parts { tombstones: None, records, keys }, making);
    }
    let removed = merge().filter_map(|newest| match newest {
        Ok(NewestEntry { entry, .. }) if entry.is_tombstone && entry.record.id != Id::Count(0) => {
            Some(Ok(entry.record))
        }
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    let tombstones = maker.tombstones(making, chunks(removed, memory))?;
    let keys = merged_keys(maker, making, runs, records.as_ref())?;
    maker.run::<F>(Parts { tombstones, records, keys }, making)
}

pub(crate) fn compacted_net(runs: &[Arc<Run>], is_oldest: bool, merged: &Run) -> Option<i64> {
    if is_oldest {
        return i64::try_from(merged.entry.records()).ok();
    }
    runs.iter().try_fold(0i64, |sum, run| sum.checked_add(run.entry.net?))
}

/// Replaces the neighbours `old` by `new`. Returns whether `old` was found.
fn splice(all: &mut Vec<Arc<Run>>, old: &[Arc<Run>], new: Option<Arc<Run>>) -> bool {
    let numbers = |runs: &[Arc<Run>]| runs.iter().map(|run| (run.entry.first, run.entry.last)).collect::<Vec<_>>();
    let (numbers_of_all, numbers) = (numbers(all), numbers(old));
    let Some(at) = numbers_of_all.windows(old.len().max(1)).position(|window| window == numbers) else { return false };
    all.splice(at..at + old.len(), new);
    true
}

/// The live records of a merge. Passes fingerprints without live records to `dropped`.
struct Live<'a, F: Fingerprint> {
    entries: NewestEntries<F>,
    dropped: &'a KeySorters<'a>,
    /// The current fingerprint; whether it is in tables; whether a record of it is live.
    current: Option<(F, bool, bool)>,
}

impl<F: Fingerprint> Live<'_, F> {
    fn turn(&mut self, next: Option<F>) -> Result<()> {
        if let Some((fingerprint, stored, left)) = self.current
            && next != Some(fingerprint)
        {
            if stored && !left {
                self.dropped.push(fingerprint)?;
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
            let NewestEntry { entry, stored } = match self.entries.next() {
                Some(Ok(newest)) => newest,
                Some(Err(error)) => return Some(Err(error)),
                None => return self.turn(None).err().map(Err),
            };
            if let Err(error) = self.turn(Some(entry.record.fingerprint)) {
                return Some(Err(error));
            }
            if let Some((_, in_tables, left)) = &mut self.current {
                *in_tables |= stored;
                *left |= !entry.is_tombstone;
            }
            if !entry.is_tombstone {
                return Some(Ok(entry.record));
            }
        }
    }
}
