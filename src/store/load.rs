//! Bulk load: one new segment, then one new manifest.

use super::filters::FilterMaker;
use super::{Store, open_segment};
use crate::bulk::{self, SortedRecords};
use crate::error::{Error, ErrorKind, Result};
use crate::format::manifest::{ManifestData, Numbering};
use crate::manifest;
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
pub(super) fn bulk_load(store: &mut Store, records: impl Into<SortedRecords>) -> Result<LoadReport> {
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
    let mut state = store.manifest.clone();
    let segments_before = store.segments.len();
    let report = add_segment(store, &mut state, records.into())?;
    if state == store.manifest {
        return Ok(report);
    }
    if let Err(error) = manifest::replace(&store.options.env, &store.path, &state) {
        let added = store.segments.split_off(segments_before);
        // If the old manifest is not there any more, what the new one names has to stay.
        store.poisoned = !manifest::read(&*store.options.env, &store.path).is_ok_and(|found| found == store.manifest);
        if !store.poisoned {
            // What cannot be removed now, the next writer removes.
            added.iter().for_each(|segment| _ = store.options.env.remove(segment.path()));
        }
        return Err(error);
    }
    store.manifest = state;
    // First the one that works on what was there before stops, so that nothing is made twice.
    store.filters = FilterMaker::default();
    store.filters = FilterMaker::begin(&store.segments, &store.options);
    Ok(report)
}

/// Writes the records that are not there yet to a new segment, opens it and enters it into `state`. The manifest on
/// disk is not touched.
pub(super) fn add_segment(
    store: &mut Store,
    state: &mut ManifestData,
    mut records: SortedRecords,
) -> Result<LoadReport> {
    number(store, state, &mut records)?;
    let mut report = LoadReport { records: records.given(), ..LoadReport::default() };
    // A record that the store has just numbered cannot be there already.
    if state.numbering == Numbering::Given {
        store.segments.iter().try_for_each(|segment| bulk::remove_present(segment, &mut records))?;
    }
    report.already_present = report.records - records.len() as u64;
    if records.is_empty() {
        return Ok(report);
    }
    let env = &store.options.env;
    let parameters = state.parameters;
    let next_segment = state.next_segment.checked_add(1);
    let next_segment =
        next_segment.ok_or_else(|| Error::invalid("the store has no segment numbers left").at_path(&store.path))?;
    let (path, entry) = bulk::write_segment(env, &store.path, state.next_segment, &parameters, &records)?;
    drop(records);
    match open_segment(&store.path, &store.options, state, &entry) {
        Ok(segment) => store.segments.push(Arc::new(segment)),
        Err(error) => {
            // Nothing refers to the file yet.
            let _ = env.remove(&path);
            return Err(error);
        }
    }
    report.fingerprints = entry.fingerprints;
    report.segment_bytes = entry.file_length;
    state.next_segment = next_segment;
    state.segments.push(entry);
    Ok(report)
}

/// Gives every record an id and decides whose ids the store has, if nobody has decided yet.
fn number(store: &Store, state: &mut ManifestData, records: &mut SortedRecords) -> Result<()> {
    let wanted = records.numbering();
    if wanted == Numbering::Undecided {
        return Ok(());
    }
    if state.numbering == Numbering::Undecided {
        state.numbering = wanted;
    } else if state.numbering != wanted {
        let (has, remedy) = match wanted {
            Numbering::Given => ("numbers its records itself, the input has ids", "load the input without ids"),
            _ => ("has ids that its user gave, the input has none", "give every record an id"),
        };
        return Err(Error::invalid(format!("the store {has}")).at_path(&store.path).with_remedy(remedy));
    }
    if wanted == Numbering::Own {
        let first = state.next_id;
        state.next_id = first
            .checked_add(records.given())
            .ok_or_else(|| Error::invalid("the store has no numbers left").at_path(&store.path))?;
        records.number_from(first);
    }
    Ok(())
}
