//! Writing all that a store has, or is to keep, anew as one segment.

use super::LoadReport;
use super::estimate::Estimate;
use super::load::{add_segment, check_writable, replace_manifest, sum, write_segment};
use super::{RecordIter, Store};
use crate::bulk::{Expected, Present, RecordIds, SortedRecords, Workspace, batches};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, IdKind, Record};
use crate::format::manifest::ManifestData;
use crate::segment::Segment;
use std::iter::Peekable;
use std::path::Path;
use std::sync::Arc;

/// Bytes of texts for each byte of theirs in a segment, about: only the size of a dictionary follows from it.
const TEXTS_OF_COMPRESSED: u64 = 3;

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
    rewrite(store, std::iter::empty(), 0).map(|_| true)
}

/// As [`Store::remove`].
pub(super) fn remove<F: Fingerprint>(store: &mut Store<F>, records: &SortedRecords<F>) -> Result<RemoveReport> {
    check_writable(store)?;
    check_ids(store, records)?;
    let present = any_present(store, records)?;
    let removed = if present { rewrite(store, records.iter(), records.given())? } else { 0 };
    let left = sum(store, |segment| segment.footer().records);
    Ok(RemoveReport { records: records.given(), removed, left })
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

/// Whether the store has any of the records.
fn any_present<F: Fingerprint>(store: &Store<F>, records: &SortedRecords<F>) -> Result<bool> {
    let mut present = Present::new(&store.segments);
    for batch in records.batches() {
        if present.any(batch?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes one segment of all records but those `without`, which come in order and are no more than `most`, and the store's
/// only one; how many were left out.
fn rewrite<F: Fingerprint>(
    store: &mut Store<F>,
    without: impl Iterator<Item = Result<Record<F>>>,
    most: u64,
) -> Result<u64> {
    let mut state = store.manifest.clone();
    let before = store.segments.clone();
    let removed = merge(store, &mut state, without, most)?;
    replace_manifest(store, state, before.clone())?;
    remove_files(store, &before);
    Ok(removed)
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

/// Writes one segment of all records but those `without`, `most` at most, and makes it the only one of the store and of
/// `state`; how many were left out. If that fails, both stay as they are.
fn merge<F: Fingerprint>(
    store: &mut Store<F>,
    state: &mut ManifestData,
    without: impl Iterator<Item = Result<Record<F>>>,
    most: u64,
) -> Result<u64> {
    let bytes = state.segments.iter().fold(0, |sum, segment| segment.file_length.saturating_add(sum));
    let estimate = Estimate::of(store);
    estimate.check_merge(bytes, sum(store, |segment| segment.footer().records), most)?;
    let fingerprints = sum(store, |segment| segment.footer().fingerprints);
    let indexes = sum(store, Segment::resident_bytes).saturating_add(estimate.index_bytes(fingerprints));
    let workspace = Workspace::new(&store.path, &store.options).without(indexes);
    let compressed = sum(store, |segment| segment.footer().ids.length);
    let text_bytes = compressed.saturating_mul(TEXTS_OF_COMPRESSED);
    let expected = Expected { first_number: 0, text_bytes, at_once: false };
    let before = std::mem::take(&mut store.segments);
    let mut merged = ManifestData { segments: Vec::new(), ..state.clone() };
    let mut kept = Without { all: RecordIter::new(&before), without: without.peekable(), removed: 0 };
    let kept_batches = batches(&mut kept, workspace.memory_of_batches());
    let written = write_segment(store, &mut merged, &workspace, expected, kept_batches);
    let removed = kept.removed;
    if let Err(error) = written {
        store.segments = before;
        return Err(error);
    }
    *state = merged;
    Ok(removed)
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
    without: Peekable<R>,
    /// How many were left out.
    removed: u64,
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
            while self.without.next_if(|other| other.as_ref().is_ok_and(before)).is_some() {}
            let same = |other: &Record<F>| match counted {
                true => other.fingerprint == record.fingerprint,
                false => *other == record,
            };
            let mut named = 0u64;
            while self.without.next_if(|other| other.as_ref().is_ok_and(same)).is_some() {
                named += 1;
            }
            if let Some(Err(error)) = self.without.next_if(Result::is_err) {
                return Some(Err(error));
            }
            let has = if let Id::Count(count) = record.id { count } else { 1 };
            self.removed = self.removed.saturating_add(named.min(has));
            match &mut record.id {
                _ if named == 0 => return Some(Ok(record)),
                Id::Count(count) if *count > named => {
                    *count -= named;
                    return Some(Ok(record));
                }
                _ => {}
            }
        }
    }
}
