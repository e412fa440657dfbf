//! Bulk load: one new segment, then one new manifest.

use super::estimate::Estimate;
use super::filters::FilterMaker;
use super::{Store, open_segment};
use crate::bulk::{self, Batch, Building, Expected, Present, RecordIds, SortedRecords, Workspace};
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::{Fingerprint, IdKind};
use crate::format::manifest::{ManifestData, Numbering, SegmentEntry};
use crate::manifest;
use crate::segment::Segment;
use std::path::PathBuf;
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

/// Adds records to a store that is open for writing.
pub(super) fn bulk_load<F: Fingerprint>(store: &mut Store<F>, records: SortedRecords<F>) -> Result<LoadReport> {
    check_writable(store)?;
    let mut state = store.manifest.clone();
    let before = store.segments.clone();
    let report = add_segment(store, &mut state, records)?;
    replace_manifest(store, state, before)?;
    Ok(report)
}

/// Refuses to write where that is not possible.
pub(super) fn check_writable<F: Fingerprint>(store: &Store<F>) -> Result<()> {
    if store.lock.is_none() {
        return Err(Error::new(ErrorKind::ReadOnly, "the store is open for reading only")
            .at_path(&store.path)
            .with_remedy("open it with Store::open"));
    }
    if store.poisoned {
        return Err(Error::new(ErrorKind::Poisoned, "an earlier write failed and left the state on disk unknown")
            .at_path(&store.path)
            .with_remedy("close the store and open it again"));
    }
    Ok(())
}

/// Makes `state` the store's, durably. Its segments are open already; those of `before` come back if it fails.
pub(super) fn replace_manifest<F: Fingerprint>(
    store: &mut Store<F>,
    state: ManifestData,
    before: Vec<Arc<crate::segment::Segment>>,
) -> Result<()> {
    if state == store.manifest {
        return Ok(());
    }
    if let Err(error) = manifest::replace(&store.options.env, &store.path, &state) {
        let after = std::mem::replace(&mut store.segments, before);
        // If the old manifest is not there any more, what the new one names has to stay.
        store.poisoned = !manifest::read(&*store.options.env, &store.path).is_ok_and(|found| found == store.manifest);
        if !store.poisoned {
            // What cannot be removed now, the next writer removes.
            let old = |path: &&std::path::Path| store.segments.iter().any(|segment| segment.path() == *path);
            let new = after.iter().map(|segment| segment.path()).filter(|path| !old(path));
            new.for_each(|path| _ = store.options.env.remove(path));
        }
        return Err(error);
    }
    store.manifest = state;
    // First the one that works on what was there before stops, so that nothing is made twice.
    store.filters = FilterMaker::default();
    store.filters = FilterMaker::begin(&store.segments, &store.options);
    Ok(())
}

/// Writes the records that are not there yet to a new segment, opens it and enters it into `state`. The manifest on
/// disk is not touched.
pub(super) fn add_segment<F: Fingerprint>(
    store: &mut Store<F>,
    state: &mut ManifestData,
    records: SortedRecords<F>,
) -> Result<LoadReport> {
    let mut report = LoadReport { records: records.given(), ..LoadReport::default() };
    let estimate = Estimate::of(store);
    let fingerprints = records.fingerprints();
    let indexes = sum(store, Segment::resident_bytes).saturating_add(estimate.index_bytes(fingerprints));
    let workspace = records.workspace().without(indexes);
    let expected = Expected {
        first_number: number(store, state, &records)?,
        text_bytes: records.text_bytes(),
        at_once: records.come_at_once(),
    };
    let segments = store.segments.clone();
    let mut present = Present::new(&segments);
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
            estimate.check_records(part(fingerprints, own), part(expected.text_bytes, new))?;
        }
        Ok(missing)
    });
    let written = write_segment(store, state, &workspace, expected, missing)?;
    drop(records);
    let Some(entry) = written else {
        report.already_present = report.records;
        return Ok(report);
    };
    report.already_present = report.records - entry.records;
    report.fingerprints = entry.fingerprints;
    report.segment_bytes = entry.file_length;
    Ok(report)
}

/// The sum of a number over the store's segments.
pub(super) fn sum<F: Fingerprint>(store: &Store<F>, of: impl Fn(&Segment) -> u64) -> u64 {
    store.segments.iter().fold(0, |sum, segment| of(segment).saturating_add(sum))
}

/// Writes a segment of sorted records, opens it and enters it into `state`; nothing if there are none.
pub(super) fn write_segment<'b, F: Fingerprint>(
    store: &mut Store<F>,
    state: &mut ManifestData,
    workspace: &Workspace,
    expected: Expected,
    batches: impl Iterator<Item = Result<Batch<'b, F>>>,
) -> Result<Option<SegmentEntry>> {
    let env = &store.options.env;
    let next_segment = state.next_segment.checked_add(1);
    let next_segment =
        next_segment.ok_or_else(|| Error::invalid("the store has no segment numbers left").at_path(&store.path))?;
    let building = Building {
        env,
        directory: &store.path,
        number: state.next_segment,
        parameters: &state.parameters,
        workspace,
        expected,
    };
    let written: Option<(PathBuf, SegmentEntry)> = bulk::write_segment(building, batches)?;
    let Some((path, entry)) = written else { return Ok(None) };
    match open_segment(&store.path, &store.options, state, &entry) {
        Ok(segment) => store.segments.push(Arc::new(segment)),
        Err(error) => {
            // Nothing refers to the file yet.
            let _ = env.remove(&path);
            return Err(error);
        }
    }
    state.next_segment = next_segment;
    state.segments.push(entry);
    Ok(Some(entry))
}

/// Decides whose ids the store has, if nobody has decided yet, and refuses others; the number of the first record
/// without an id.
fn number<F: Fingerprint>(store: &Store<F>, state: &mut ManifestData, records: &SortedRecords<F>) -> Result<u64> {
    let refuse =
        |has: &str, remedy| Err(Error::invalid(format!("the store {has}")).at_path(&store.path).with_remedy(remedy));
    let wanted = match (state.parameters.ids(), records.ids()) {
        (_, RecordIds::NoRecords) | (IdKind::None, RecordIds::Without) | (IdKind::Text, RecordIds::Texts) => {
            return Ok(0);
        }
        (IdKind::None, _) => return refuse("has no ids, the input has", "load the fingerprints alone"),
        (IdKind::Text, RecordIds::Without) => {
            return refuse("has text ids, the input has none", "give every record an id");
        }
        (IdKind::Text, RecordIds::Numbers) => {
            return refuse("has text ids, the input has numbers", "give them as texts");
        }
        (IdKind::Number, RecordIds::Texts) => {
            return refuse("has ids of 64-bit numbers, the input has texts", "make a store of text ids for them");
        }
        (IdKind::Number, RecordIds::Numbers) => Numbering::Given,
        (IdKind::Number, RecordIds::Without) => Numbering::Own,
    };
    if state.numbering == Numbering::Undecided {
        state.numbering = wanted;
    } else if state.numbering != wanted {
        return match wanted {
            Numbering::Given => refuse("numbers its records itself, the input has ids", "load the input without ids"),
            _ => refuse("has ids that its user gave, the input has none", "give every record an id"),
        };
    }
    let first = state.next_id;
    if wanted == Numbering::Own {
        state.next_id = first
            .checked_add(records.given())
            .ok_or_else(|| Error::invalid("the store has no numbers left").at_path(&store.path))?;
    }
    Ok(first)
}
