//! Bulk load: one new run, then one new manifest.

use super::apart;
use super::compact::due;
use super::core::{Core, Writing};
use super::estimate::Estimate;
use super::run::Run;
use super::segments::{Making, RunParts};
use crate::bulk::{Expected, Present, RecordIds, SortedRecords, Workspace};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, IdKind};
use crate::format::manifest::Numbering;
use crate::options::{Filters, Maintenance};
use std::ops::Range;
use std::sync::Arc;

/// What a load has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// Records in the input.
    pub records: u64,
    /// Those of them that the store had already, or that came twice.
    pub already_present: u64,
    /// Distinct fingerprints among the added records.
    pub fingerprints: u64,
    /// Bytes of the new segment; 0 if nothing was added.
    pub segment_bytes: u64,
}

impl LoadReport {
    /// Records that were added.
    #[must_use]
    pub fn added(&self) -> u64 {
        self.records - self.already_present
    }
}

/// Which runs are merged with the new one, in the same step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merging {
    /// None; or those that are due, where nobody else would merge them.
    AsDue,
    /// All.
    All,
}

impl<F: Fingerprint> Core<F> {
    /// Adds records; whether runs were merged.
    pub(super) fn bulk_load(&self, records: SortedRecords<F>, merging: Merging) -> Result<(LoadReport, bool)> {
        self.flush()?;
        let reserved = self.reserve(&records)?;
        let loaded = self.load_reserved(records, reserved.first, merging);
        if loaded.is_err() {
            self.give_back(&reserved);
        } else if self.common.options.filters == Filters::AtOpen {
            self.wait_for_filters();
        }
        loaded
    }

    fn load_reserved(
        &self,
        records: SortedRecords<F>,
        first_number: u64,
        merging: Merging,
    ) -> Result<(LoadReport, bool)> {
        let mut report = LoadReport { records: records.given(), ..LoadReport::default() };
        let estimate = Estimate::of(&self.common);
        let index = estimate.index_bytes(records.fingerprints());
        let workspace = self.beside_indexes(records.workspace()).without(index);
        let parts = self.make_missing(&records, &workspace, first_number, &estimate)?;
        drop(records);
        if let Some((entry, _)) = &parts.records {
            report.already_present = report.records - entry.records;
            report.fingerprints = entry.fingerprints;
            report.segment_bytes = entry.file_length;
        } else {
            report.already_present = report.records;
        }
        let merged = self.add_run(parts, merging, &workspace)?;
        Ok((report, merged))
    }

    /// The segments of those records that are not there yet.
    fn make_missing(
        &self,
        records: &SortedRecords<F>,
        workspace: &Workspace,
        first_number: u64,
        estimate: &Estimate,
    ) -> Result<RunParts> {
        let text_bytes = records.text_bytes();
        let expected = Expected { first_number, text_bytes, at_once: records.come_at_once() };
        let fingerprints = records.fingerprints();
        let runs = self.tree().runs.clone();
        let mut present = Present::new(runs.iter().rev().flat_map(|run| run.layers()));
        let mut checked = false;
        let missing = records.batches().map(|batch| {
            let batch = batch?;
            let given = batch.records();
            let missing = present.missing(batch)?;
            if !std::mem::replace(&mut checked, true) {
                // What is new among the first ones tells how much is new.
                let part = |all: u64, of: u64| (u128::from(all) * u128::from(of) / u128::from(given.max(1))) as u64;
                let new = missing.records();
                // Where only the records could be counted, it also tells how many of them have a fingerprint of their own.
                let own = if records.is_in_memory() { new } else { missing.distinct(None).len() as u64 };
                estimate.check_records(part(fingerprints, own), part(text_bytes, new))?;
            }
            Ok(missing)
        });
        let making = Making { expected, ..Making::new(workspace) };
        let records = self.maker().records(making, missing)?;
        self.maker().run::<F>(None, records, making)
    }

    /// What a load may use beside the indexes of what the store has.
    pub(super) fn beside_indexes(&self, workspace: &Workspace) -> Workspace {
        let view = self.view();
        let indexes = view.runs.iter().flat_map(|run| run.segments().cloned().collect::<Vec<_>>());
        workspace.without(indexes.map(|segment| segment.resident_bytes()).fold(0, u64::saturating_add))
    }

    /// Enters a run as what was written last, perhaps merged with others; whether it was.
    ///
    /// # Errors
    /// Those of merging and of writing the manifest; the store is as before then.
    pub(super) fn add_run(&self, parts: RunParts, merging: Merging, workspace: &Workspace) -> Result<bool> {
        apart::run(|| self.add_run_here(parts, merging, workspace))
    }

    fn add_run_here(&self, parts: RunParts, merging: Merging, workspace: &Workspace) -> Result<bool> {
        if parts.is_empty() {
            return if merging == Merging::All { self.compact_all() } else { Ok(false) };
        }
        let mut writing = self.writer().inspect_err(|_| parts.retire(&self.common.remover))?;
        // Nothing older may come into segments after it.
        let sealed = self.seal(&mut writing).and_then(|()| self.flush_sealed()).inspect_err(|error| self.poison(error));
        sealed.inspect_err(|_| parts.retire(&self.common.remover))?;
        self.check_numbers(writing.get()).inspect_err(|_| parts.retire(&self.common.remover))?;
        let bytes = parts.bytes();
        let sequence = writing.get().next_sequence;
        let new = parts.into_run(sequence, sequence);
        let _compacting = self.lock_merging();
        let mut runs = self.tree().runs.clone();
        runs.extend(new.clone());
        if let Some(range) = self.merged_at_once(&runs, merging) {
            let old = runs.get(range.clone()).unwrap_or_default();
            let merged = self.check_room_to_merge(old, 0);
            let merged = merged.and_then(|()| self.merge_runs(old, range.start == 0, workspace, None, None));
            // The run of the load alone: no manifest names it.
            new.iter().for_each(|new| new.retire(&self.common.remover));
            let merged = merged?;
            let merged_bytes = merged.bytes();
            let first = old.first().map_or(sequence, |run| run.entry.first);
            let merged: Vec<_> = merged.into_run(first, sequence).into_iter().collect();
            runs.splice(range, merged.iter().cloned());
            self.enter(&mut writing, &merged, &runs, (bytes, merged_bytes))?;
            self.forget_merge_of_what_is_gone();
            return Ok(true);
        }
        let new: Vec<_> = new.into_iter().collect();
        self.enter(&mut writing, &new, &runs, (bytes, 0)).map(|()| false)
    }

    /// Which runs become one in the step that adds the last of them.
    fn merged_at_once(&self, runs: &[Arc<Run>], merging: Merging) -> Option<Range<usize>> {
        let removals = runs.iter().any(|run| run.removals.is_some());
        match (merging, self.common.options.maintenance) {
            (Merging::All, _) => (runs.len() > 1 || removals).then_some(0..runs.len()),
            (Merging::AsDue, Maintenance::Foreground) => due(runs),
            (Merging::AsDue, _) => None,
        }
    }

    /// Replaces the manifest by one with these runs, which have what was written up to now and one write more.
    fn enter(
        &self,
        writing: &mut Writing<'_>,
        new: &[Arc<Run>],
        runs: &[Arc<Run>],
        (bytes, merged_bytes): (u64, u64),
    ) -> Result<()> {
        let writer = writing.get();
        let sequence = writer.next_sequence;
        self.install(
            new,
            |manifest, all| {
                manifest.flushed = sequence;
                manifest.first_log = writer.next_log;
                (manifest.numbering, manifest.next_id) = (writer.numbering, writer.next_id);
                manifest.written.new = manifest.written.new.saturating_add(bytes);
                manifest.written.merged = manifest.written.merged.saturating_add(merged_bytes);
                *all = runs.to_vec();
            },
            |_| (),
        )?;
        writer.next_sequence += 1;
        writer.is_numbering_kept = true;
        writer.unsynced.clear();
        Ok(())
    }
}

/// Numbers for records that come without ids.
pub(super) struct Reserved {
    /// The first one.
    first: u64,
    /// Who numbers, and from where on, before and now.
    before: (Numbering, u64),
    now: (Numbering, u64),
}

impl<F: Fingerprint> Core<F> {
    /// Decides whose ids the store has, if nobody has decided yet, and refuses others; sets numbers aside for records
    /// without ids.
    fn reserve(&self, records: &SortedRecords<F>) -> Result<Reserved> {
        let mut writing = self.writer()?;
        let writer = writing.get();
        let before = (writer.numbering, writer.next_id);
        let wanted = wanted_numbering(&self.common.parameters.ids(), records.ids());
        let wanted = wanted.map_err(|(has, remedy)| self.refused(has, remedy))?;
        if let Some(wanted) = wanted {
            check_numbering(writer.numbering, wanted).map_err(|(has, remedy)| self.refused(has, remedy))?;
            writer.is_numbering_kept &= writer.numbering == wanted;
            writer.numbering = wanted;
            if wanted == Numbering::Own {
                let next = writer.next_id.checked_add(records.given());
                writer.next_id =
                    next.ok_or_else(|| Error::invalid("the store has no numbers left").at_path(&self.common.path))?;
            }
        }
        Ok(Reserved { first: before.1, before, now: (writer.numbering, writer.next_id) })
    }

    /// Undoes a reservation, if nobody has built on it.
    fn give_back(&self, reserved: &Reserved) {
        if let Ok(mut writing) = self.writer() {
            let writer = writing.get();
            if (writer.numbering, writer.next_id) == reserved.now {
                let (numbering, next_id) = reserved.before;
                writer.next_id = next_id;
                if !writer.is_numbering_kept {
                    (writer.numbering, writer.is_numbering_kept) = (numbering, true);
                }
            }
        }
    }

    fn refused(&self, has: &str, remedy: &'static str) -> Error {
        Error::invalid(format!("the store {has}")).at_path(&self.common.path).with_remedy(remedy)
    }
}

/// Why ids are refused: what the store has, and the remedy.
type Refused = (&'static str, &'static str);

/// Who has to number records with such ids in a store with ids of a kind; nobody, where that is no question.
fn wanted_numbering(kind: &IdKind, ids: RecordIds) -> std::result::Result<Option<Numbering>, Refused> {
    match (kind, ids) {
        (_, RecordIds::NoRecords) | (IdKind::None, RecordIds::Without) | (IdKind::Text, RecordIds::Texts) => Ok(None),
        (IdKind::None, _) => Err(("has no ids, the input has", "load the fingerprints alone")),
        (IdKind::Text, RecordIds::Without) => Err(("has text ids, the input has none", "give every record an id")),
        (IdKind::Text, RecordIds::Numbers) => Err(("has text ids, the input has numbers", "give them as texts")),
        (IdKind::Number, RecordIds::Texts) => {
            Err(("has ids of 64-bit numbers, the input has texts", "make a store of text ids for them"))
        }
        (IdKind::Number, RecordIds::Numbers) => Ok(Some(Numbering::Given)),
        (IdKind::Number, RecordIds::Without) => Ok(Some(Numbering::Own)),
    }
}

/// Refuses another numbering than the store's.
pub(super) fn check_numbering(has: Numbering, wanted: Numbering) -> std::result::Result<(), Refused> {
    match (has, wanted) {
        (Numbering::Undecided, _) => Ok(()),
        (has, wanted) if has == wanted => Ok(()),
        (_, Numbering::Given) => Err(("numbers its records itself, the input has ids", "load the input without ids")),
        _ => Err(("has ids that its user gave, the input has none", "give every record an id")),
    }
}
