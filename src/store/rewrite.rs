//! Writing all that a store has, or is to keep, anew as one segment.

use super::LoadReport;
use super::load::{add_segment, check_writable, replace_manifest, write_segment};
use super::room::Room;
use super::{RecordIter, Store};
use crate::bulk::{Present, RecordIds, SortedRecords, Workspace, batches};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, IdKind, Record};
use crate::format::manifest::ManifestData;
use crate::segment::Segment;
use std::iter::Peekable;
use std::path::Path;
use std::sync::Arc;

/// What a removal has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoveReport {
    /// Records in the input.
    pub records: u64,
    /// Records that were removed.
    pub removed: u64,
    /// Records that are left.
    pub left: u64,
}

/// As [`Store::compact`].
pub(super) fn compact<F: Fingerprint>(store: &mut Store<F>) -> Result<bool> {
    check_writable(store)?;
    if store.segments.len() < 2 {
        return Ok(false);
    }
    rewrite(store, std::iter::empty(), 0).map(|()| true)
}

/// As [`Store::remove`].
pub(super) fn remove<F: Fingerprint>(store: &mut Store<F>, records: &SortedRecords<F>) -> Result<RemoveReport> {
    check_writable(store)?;
    check_ids(store, records)?;
    let left = |store: &Store<F>| store.segments.iter().map(|segment| segment.footer().records).sum::<u64>();
    let before = left(store);
    if any_present(store, records)? {
        rewrite(store, records.iter(), records.given())?;
    }
    let left = left(store);
    // Records that several segments had in common are counted once now.
    Ok(RemoveReport { records: records.given(), removed: before.saturating_sub(left), left })
}

/// Refuses records that do not name the store's.
fn check_ids<F: Fingerprint>(store: &Store<F>, records: &SortedRecords<F>) -> Result<()> {
    let kind = store.parameters().ids();
    let fits = match (kind, records.ids()) {
        (_, RecordIds::NoRecords) => true,
        (IdKind::Number, ids) => ids == RecordIds::Numbers,
        (IdKind::Text, ids) => ids == RecordIds::Texts,
        (IdKind::None, ids) => ids == RecordIds::Without,
    };
    if fits {
        return Ok(());
    }
    let (has, remedy) = match kind {
        IdKind::None => {
            ("has no ids, the input has", "name the fingerprints alone, each as often as it is to be removed")
        }
        _ => ("has ids of another kind than the input", "name records as `fpdump scan` prints them"),
    };
    Err(Error::invalid(format!("the store {has}")).at_path(&store.path).with_remedy(remedy))
}

/// Whether the store has any of the records, as far as that can be told without counting.
fn any_present<F: Fingerprint>(store: &Store<F>, records: &SortedRecords<F>) -> Result<bool> {
    let mut present = Present::new(&store.segments);
    for batch in records.batches() {
        let batch = batch?;
        let all = batch.records();
        if records.ids() == RecordIds::Without || present.missing(batch)?.records() < all {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes one segment of all records but those `removed`, which come in order and are no more than `most`, and the store's
/// only one.
fn rewrite<F: Fingerprint>(
    store: &mut Store<F>,
    removed: impl Iterator<Item = Result<Record<F>>>,
    most: u64,
) -> Result<()> {
    let mut state = store.manifest.clone();
    let before = store.segments.clone();
    merge(store, &mut state, removed, most)?;
    replace_manifest(store, state, before.clone())?;
    remove_files(store, &before);
    Ok(())
}

/// As [`Store::bulk_load_compact`].
pub(super) fn load_compact<F: Fingerprint>(
    store: &mut Store<F>,
    records: SortedRecords<F>,
) -> Result<(LoadReport, bool)> {
    check_writable(store)?;
    let mut state = store.manifest.clone();
    let before = store.segments.clone();
    let report = add_segment(store, &mut state, records)?;
    let all = store.segments.clone();
    let several = all.len() > 1;
    if several && let Err(error) = merge(store, &mut state, std::iter::empty(), 0) {
        // The load goes with it.
        store.segments = before;
        remove_files(store, &all);
        return Err(error);
    }
    let replaced = replace_manifest(store, state, before);
    // The segment of the load alone: where there were others, no manifest names it. Where there were none, a manifest that
    // could not be made durable may.
    if several || replaced.is_ok() {
        remove_files(store, &all);
    }
    replaced.map(|()| (report, several))
}

/// Writes one segment of all records but those `removed`, `most` at most, and makes it the only one of the store and of `state`. If that
/// fails, both stay as they are.
fn merge<F: Fingerprint>(
    store: &mut Store<F>,
    state: &mut ManifestData,
    removed: impl Iterator<Item = Result<Record<F>>>,
    most: u64,
) -> Result<()> {
    let records = store.segments.iter().map(|segment| segment.footer().records).sum();
    let bytes = state.segments.iter().map(|segment| segment.file_length).sum();
    Room::of(store).check_merge(bytes, records, most)?;
    let before = std::mem::take(&mut store.segments);
    let workspace = Workspace::new(&store.path, &store.options);
    let mut merged = ManifestData { segments: Vec::new(), ..state.clone() };
    let kept = Without { all: RecordIter::new(&before), removed: removed.peekable() };
    let written = write_segment(store, &mut merged, &workspace, 0, batches(kept, workspace.memory_of_batches()));
    if let Err(error) = written {
        store.segments = before;
        return Err(error);
    }
    *state = merged;
    Ok(())
}

/// Removes the files of segments that the store does not have any more. What cannot be removed now, the next writer
/// removes.
fn remove_files<F: Fingerprint>(store: &Store<F>, segments: &[Arc<Segment>]) {
    let has = |path: &Path| store.segments.iter().any(|segment| segment.path() == path);
    let gone = segments.iter().map(|segment| segment.path()).filter(|path| !has(path));
    gone.for_each(|path| _ = store.options.env.remove(path));
}

/// Records in order without some of them, which come in order too.
struct Without<A, R: Iterator> {
    all: A,
    removed: Peekable<R>,
}

impl<F: Fingerprint, A, R> Iterator for Without<A, R>
where
    A: Iterator<Item = Result<Record<F>>>,
    R: Iterator<Item = Result<Record<F>>>,
{
    type Item = Result<Record<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut record = match self.all.next()? {
                Ok(record) => record,
                Err(error) => return Some(Err(error)),
            };
            let counted = matches!(record.id, Id::Count(_));
            let before = |other: &Record<F>| match counted {
                true => other.fingerprint < record.fingerprint,
                false => *other < record,
            };
            while self.removed.next_if(|other| other.as_ref().is_ok_and(before)).is_some() {}
            let same = |other: &Record<F>| match counted {
                true => other.fingerprint == record.fingerprint,
                false => *other == record,
            };
            let mut removed = 0u64;
            while self.removed.next_if(|other| other.as_ref().is_ok_and(same)).is_some() {
                removed += 1;
            }
            if let Some(Err(error)) = self.removed.next_if(Result::is_err) {
                return Some(Err(error));
            }
            match &mut record.id {
                _ if removed == 0 => return Some(Ok(record)),
                Id::Count(count) if *count > removed => {
                    *count -= removed;
                    return Some(Ok(record));
                }
                _ => {}
            }
        }
    }
}
