//! Bulk load: one new run and one new manifest.

use crate::db::{Made, Parts, Refused, Slowed, StoreInner, Writer, check_id_assignment, compacted_net, pointless};
use crate::error::{Error, Result};
use crate::extsort::Workspace;
use crate::fingerprint::{Fingerprint, IdAssignment, IdKind, Record, by_width};
use crate::format::manifest::ManifestData;
use crate::load::records::{RecordIds, SortedRecords};
use crate::memtable::Memtable;
use crate::options::{Filters, Maintenance};
use crate::segment::{Expected, Making, chunks};
use crate::version::{MembershipCursor, Run, run_segments};
use std::ops::Range;
use std::sync::Arc;

/// Most records that are flushed while writers wait: a few milliseconds.
const FEW_RECORDS: u32 = 4096;

/// The result of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// Records in the input.
    pub records: u64,
    /// Records that the store had already, or that came twice.
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

pub(crate) struct Loaded {
    pub(crate) report: LoadReport,
    pub(crate) removed: u64,
    pub(crate) compacted: bool,
}

/// The runs that are merged with the new one in the same step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompactAfter {
    /// None; or those that are due, if no background thread merges them.
    Due,
    /// All.
    All,
}

impl StoreInner {
    /// Adds records. Returns whether runs were merged.
    pub(crate) fn bulk_load<F: Fingerprint>(
        &self,
        records: SortedRecords<F>,
        after: CompactAfter,
    ) -> Result<(LoadReport, bool)> {
        let loaded = self.load(records, |records, first| self.load_reserved(records, None, first, after))?;
        Ok((loaded.report, loaded.compacted))
    }

    /// Calls `load` with the records and the number of the first record without an id.
    pub(crate) fn load<F: Fingerprint, R>(
        &self,
        records: SortedRecords<F>,
        load: impl FnOnce(SortedRecords<F>, u64) -> Result<R>,
    ) -> Result<R> {
        self.flush_beside()?;
        let numbers = self.reserve(records.ids(), records.given())?;
        let loaded = load(records, numbers.start);
        self.end_reservation(numbers, loaded.is_ok());
        if loaded.is_ok() && self.context.options.filters == Filters::AtOpen {
            self.wait_for_filters();
        }
        loaded
    }

    /// Adds records, and removes the other records of `old`.
    pub(crate) fn load_reserved<F: Fingerprint>(
        &self,
        records: SortedRecords<F>,
        old: Option<&SortedRecords<F>>,
        first_number: u64,
        after: CompactAfter,
    ) -> Result<Loaded> {
        let mut report = LoadReport { records: records.given(), ..LoadReport::default() };
        let index = self.index_bytes(records.fingerprints());
        let workspace = self.beside_indexes(records.workspace()).without(index);
        // Records that the store numbers or counts differ from all that are there.
        let is_apart = matches!(records.ids(), RecordIds::Without | RecordIds::Counted);
        let (run, last) = self.make_missing(&records, old, &workspace, first_number)?;
        drop(records);
        report.already_present = report.records - run.entry.records();
        if let Some(entry) = run.entry.records {
            (report.fingerprints, report.segment_bytes) = (entry.fingerprints, entry.file_length);
        }
        let removed = run.entry.removed();
        let compacted = self.add_run(MadeRun { run, last, is_apart }, after, &workspace)?;
        Ok(Loaded { report, removed, compacted })
    }

    /// Makes the segments of the missing records, and of tombstones for the old ones that are not among them. Returns
    /// them and the last sequence number of the runs compared.
    fn make_missing<F: Fingerprint>(
        &self,
        records: &SortedRecords<F>,
        old: Option<&SortedRecords<F>>,
        workspace: &Workspace,
        first_number: u64,
    ) -> Result<(Run, u64)> {
        let text_bytes = records.text_bytes();
        let expected = Expected { first_number, text_bytes, at_once: records.come_at_once() };
        let fingerprints = records.fingerprints();
        let runs = self.versions().runs.clone();
        let mut present = MembershipCursor::new(run_segments(&runs));
        let mut checked = false;
        let missing = records.chunks().map(|batch| {
            let batch = batch?;
            let given = batch.records();
            let missing = present.missing(batch)?;
            if !std::mem::replace(&mut checked, true) {
                // The share of new records in the first chunk is an estimate for all.
                let part = |all: u64, of: u64| (u128::from(all) * u128::from(of) / u128::from(given.max(1))) as u64;
                let new = missing.records();
                // The same holds for distinct fingerprints if only records could be counted.
                let own = if records.is_in_memory() { new } else { missing.distinct(None, Vec::new()).len() as u64 };
                self.check_room_to_load(part(fingerprints, own), part(text_bytes, new))?;
            }
            Ok(missing)
        });
        let tombstones = old.map_or(Ok(None), |old| self.make_gone(old, records, &runs, workspace))?;
        let making = Making { expected, ..Making::new(workspace) };
        let records = self.maker().records(making, missing)?;
        Ok((self.maker().run::<F>(Parts { tombstones, records, keys: None }, making)?, last_of(&runs)))
    }

    /// The tombstones of the old records that these runs have and that are not among the new ones.
    fn make_gone<F: Fingerprint>(
        &self,
        old: &SortedRecords<F>,
        new: &SortedRecords<F>,
        runs: &[Arc<Run>],
        workspace: &Workspace,
    ) -> Result<Option<Made>> {
        let expected = Expected { text_bytes: old.text_bytes(), ..Expected::default() };
        let gone = chunks(without(old.records(), new.records()), workspace.memory_of_chunks());
        let mut present = MembershipCursor::new(run_segments(runs));
        let making = Making { expected, ..Making::new(workspace) };
        self.maker().tombstones(making, gone.map(|batch| present.present(batch?)))
    }

    /// The workspace without the memory of the store's indexes.
    pub(crate) fn beside_indexes(&self, workspace: &Workspace) -> Workspace {
        let view = self.super_version();
        let indexes = view.runs.iter().flat_map(|run| run.segments().cloned().collect::<Vec<_>>());
        workspace.without(indexes.map(|segment| segment.resident_bytes()).fold(0, u64::saturating_add))
    }

    /// Installs a run as the last one, although writes went on while it was made, and merges it with others if wanted.
    /// Returns whether it merged. After an error the store is as before.
    pub(crate) fn add_run(&self, made: MadeRun, after: CompactAfter, workspace: &Workspace) -> Result<bool> {
        let added = self.context.options.executor.run_exclusive(|| match after {
            _ if made.run.is_empty() && after == CompactAfter::All => self.compact_all(),
            _ if made.run.is_empty() => Ok(false),
            CompactAfter::All => self.enter_compacted(made, workspace),
            CompactAfter::Due => {
                self.enter(made)?;
                let foreground = self.context.options.maintenance == Maintenance::Foreground;
                // The run is installed. A failed compaction is reported by the store's health, and tried again.
                Ok(foreground && self.compact_due(None).unwrap_or(false))
            }
        });
        added.inspect_err(|error| self.check_place(error))
    }

    /// Installs a run merged with all others in one step; in two if runs have changed meanwhile.
    fn enter_compacted(&self, made: MadeRun, workspace: &Workspace) -> Result<bool> {
        // Release the compaction lock before taking the writer lock: a writer may want the former.
        let compacting = self.lock_compaction();
        let older = self.versions().runs.clone();
        let mut runs = older.clone();
        runs.extend(made.run.clone().numbered(last_of(&older) + 1, last_of(&older) + 1, None));
        if runs.len() < 2 && runs.iter().all(|run| run.tombstones.is_none()) {
            drop(compacting);
            return self.enter(made).map(|()| false);
        }
        self.check_room_to_merge(&runs)?;
        let merged = self.merge_runs(self.maker(), &runs, true, workspace, None)?;
        drop(compacting);
        let mut writing = self.writer()?;
        self.seal(&mut writing)?;
        let is_as_before = {
            let versions = self.versions();
            let same =
                versions.runs.len() == older.len() && versions.runs.iter().zip(&older).all(|(a, b)| Arc::ptr_eq(a, b));
            same && versions.sealed.is_empty()
        };
        if !is_as_before {
            drop((writing, merged));
            self.enter(made)?;
            return self.compact_all().map(|_| true);
        }
        let bytes = (made.run.entry.bytes(), merged.entry.bytes());
        let first = runs.first().map_or(1, |run| run.entry.first);
        let sequence = writing.next_sequence;
        let net = compacted_net(&runs, true, &merged);
        let new = merged.numbered(first, sequence, net);
        self.place(&mut writing, bytes, |_, all| *all = new.into_iter().collect())?;
        Ok(true)
    }

    fn enter(&self, made: MadeRun) -> Result<()> {
        let slowed = self.flush_most()?;
        let mut writing = self.writer()?;
        // Older records may not be flushed after it.
        self.seal(&mut writing)?;
        self.flush_sealed(usize::MAX)?;
        self.check_numbers(&writing)?;
        let older = self.versions().runs.clone();
        let entry = &made.run.entry;
        let count =
            0i64.checked_add_unsigned(entry.records()).and_then(|all| all.checked_sub_unsigned(entry.removed()));
        let bytes = (entry.bytes(), 0);
        let quiet = made.is_apart || last_of(&older) == made.last;
        let sequence = writing.next_sequence;
        let new = made.run.numbered(sequence, sequence, count.filter(|_| quiet));
        self.place(&mut writing, bytes, |_, all| all.extend(new.clone()))?;
        drop((writing, slowed));
        if let (false, Some(run), Some(count)) = (quiet, new, count) {
            self.count_beside(&run, count, &older, made.last);
        }
        Ok(())
    }

    /// Flushes most records while writes go on, and slows writers down until the returned guard is dropped, as they
    /// will wait for the flush of the rest.
    fn flush_most(&self) -> Result<Slowed<'_>> {
        let flush_much = || {
            let versions = self.versions();
            let is_much = |memtable: &Arc<Memtable>| memtable.visible() >= FEW_RECORDS;
            let is_worth_it = !versions.sealed.is_empty() || versions.active.as_ref().is_some_and(is_much);
            drop(versions);
            if is_worth_it { self.flush_beside() } else { Ok(()) }
        };
        flush_much()?;
        let slowed = self.pressure.slow();
        flush_much()?;
        let written = self.writer()?.promise();
        self.prepare_next(written.as_ref())?;
        Ok(slowed)
    }

    fn count_beside(&self, run: &Arc<Run>, count: i64, older: &[Arc<Run>], last: u64) {
        // Statistics count the records later if this fails, if the run adds and removes, or if the runs beside it were
        // merged with older ones, which hides the removed records.
        if run.records.is_some() && run.tombstones.is_some()
            || last > 0 && !older.iter().any(|run| run.entry.last == last)
        {
            return;
        }
        let tail = older.iter().filter(|run| run.entry.last > last).cloned().collect::<Vec<_>>();
        let pointless = by_width!(self.context.parameters.width(), F => pointless::<F>(run, &tail));
        let Ok(pointless) = pointless else { return };
        let net = count - count.signum() * i64::try_from(pointless).unwrap_or(0);
        let Some(counted) = Run::clone(run).numbered(run.entry.first, run.entry.last, Some(net)) else { return };
        let same = |other: &&mut Arc<Run>| Arc::ptr_eq(other, run);
        let _ = self.install(|_, all| all.iter_mut().filter(same).for_each(|other| other.clone_from(&counted)), |_| ());
    }

    /// Installs a manifest with a new run, whose last sequence number is the next one.
    pub(crate) fn place(
        &self,
        writer: &mut Writer,
        (bytes, compacted_bytes): (u64, u64),
        change: impl FnOnce(&mut ManifestData, &mut Vec<Arc<Run>>),
    ) -> Result<()> {
        let sequence = writer.next_sequence;
        self.install(
            |manifest, all| {
                manifest.flushed = sequence;
                manifest.first_log = writer.next_log;
                (manifest.id_assignment, manifest.next_id) = (writer.id_assignment, writer.next_id);
                manifest.written.new = manifest.written.new.saturating_add(bytes);
                manifest.written.compacted = manifest.written.compacted.saturating_add(compacted_bytes);
                change(manifest, all);
            },
            |_| (),
        )?;
        writer.next_sequence += 1;
        writer.is_assignment_kept = true;
        writer.unsynced.clear();
        Ok(())
    }
}

/// A run that was made while writes went on.
pub(crate) struct MadeRun {
    pub(crate) run: Run,
    /// The last sequence number of the runs it was compared with.
    pub(crate) last: u64,
    /// Whether no concurrent write can have made a record of it superfluous.
    pub(crate) is_apart: bool,
}

pub(crate) fn last_of(runs: &[Arc<Run>]) -> u64 {
    runs.last().map_or(0, |run| run.entry.last)
}

/// The records that are not among `others`; both in order.
fn without<F: Fingerprint>(
    records: impl Iterator<Item = Result<Record<F>>>,
    others: impl Iterator<Item = Result<Record<F>>>,
) -> impl Iterator<Item = Result<Record<F>>> {
    let mut others = others.peekable();
    records.filter_map(move |record| {
        let Ok(record) = record else { return Some(record) };
        let is_before = |other: &Record<F>| (other.fingerprint, &other.id) < (record.fingerprint, &record.id);
        while others.next_if(|other| other.as_ref().is_ok_and(is_before)).is_some() {}
        match others.next_if(|other| other.as_ref().map_or(true, |other| *other == record)) {
            Some(Err(error)) => Some(Err(error)),
            Some(Ok(_)) => None,
            None => Some(Ok(record)),
        }
    })
}

impl StoreInner {
    /// Checks the id assignment, or sets it if it is not set yet. Reserves numbers for records without ids, and for all
    /// records of a key index.
    pub(crate) fn reserve(&self, ids: RecordIds, records: u64) -> Result<Range<u64>> {
        let mut writer = self.writer()?;
        let first = writer.next_id;
        let refused = |refused: Refused| self.refused(refused);
        let wanted = wanted_id_assignment(&self.context.parameters.ids(), ids).map_err(refused)?;
        let is_numbered = wanted == Some(IdAssignment::Auto) || self.context.parameters.keys().is_some();
        if let Some(wanted) = wanted {
            check_id_assignment(writer.id_assignment, wanted).map_err(refused)?;
        }
        if is_numbered {
            let next = first.checked_add(records);
            writer.next_id =
                next.ok_or_else(|| Error::invalid("the store has no numbers left").at_path(&self.context.path))?;
        }
        if let Some(wanted) = wanted {
            writer.is_assignment_kept &= writer.id_assignment == wanted;
            writer.id_assignment = wanted;
        }
        writer.loads += 1;
        Ok(first..writer.next_id)
    }

    /// Gives back the numbers of a failed load, unless later ones are taken, and the id assignment if no other load
    /// needs it.
    pub(crate) fn end_reservation(&self, numbers: Range<u64>, is_loaded: bool) {
        let Ok(mut writer) = self.writer() else { return };
        writer.loads -= 1;
        if !is_loaded && writer.next_id == numbers.end {
            writer.next_id = numbers.start;
        }
        if writer.loads == 0 && !writer.is_assignment_kept {
            (writer.id_assignment, writer.is_assignment_kept) = (IdAssignment::Undecided, true);
        }
    }
}

/// The id assignment this input requires, if any.
fn wanted_id_assignment(kind: &IdKind, ids: RecordIds) -> std::result::Result<Option<IdAssignment>, Refused> {
    match (kind, ids) {
        (_, RecordIds::NoRecords)
        | (IdKind::None, RecordIds::Without | RecordIds::Counted)
        | (IdKind::Text, RecordIds::Texts) => Ok(None),
        (IdKind::None, _) => Err(("has no ids, the input has", "load the fingerprints alone")),
        (IdKind::Number, RecordIds::Counted) => {
            Err(("numbers its records, the input only counts them", "sort them without `counted`"))
        }
        (IdKind::Text, RecordIds::Without | RecordIds::Counted) => {
            Err(("has text ids, the input has none", "give every record an id"))
        }
        (IdKind::Text, RecordIds::Numbers) => Err(("has text ids, the input has numbers", "give them as texts")),
        (IdKind::Number, RecordIds::Texts) => {
            Err(("has ids of 64-bit numbers, the input has texts", "make a store of text ids for them"))
        }
        (IdKind::Number, RecordIds::Numbers) => Ok(Some(IdAssignment::Explicit)),
        (IdKind::Number, RecordIds::Without) => Ok(Some(IdAssignment::Auto)),
    }
}
