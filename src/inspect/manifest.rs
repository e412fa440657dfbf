//! The content of a manifest.

use crate::admin::WrittenBytes;
use crate::error::Result;
use crate::fingerprint::IdAssignment;
use crate::format::Parameters;
use crate::format::manifest::{ManifestData, RunEntry, SegmentEntry};
use crate::options::Options;
use crate::segment::segment_name;
use crate::version::{SegmentRole, manifest as file};
use std::path::Path;

/// The manifest of a store.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ManifestView {
    /// The parameters of the store.
    pub parameters: Parameters,
    /// The source of the records' ids.
    pub id_assignment: IdAssignment,
    /// The next number for a record without an id, before the writes of the logs.
    pub next_id: u64,
    /// The number of the next segment.
    pub next_segment: u64,
    /// The number of the first log that may have writes of no segment.
    pub first_log: u64,
    /// The last sequence number whose writes are in segments.
    pub flushed: u64,
    /// Bytes written so far.
    pub written: WrittenBytes,
    /// Oldest first.
    pub runs: Vec<RunView>,
}

/// A run: the segments of the writes of some sequence numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunView {
    /// The first sequence number.
    pub first: u64,
    /// The last sequence number.
    pub last: u64,
    /// The number of records that this run adds to those of the older runs, if the manifest has it.
    pub net_records: Option<i64>,
    /// Its segments and their roles.
    pub segments: Vec<(SegmentRole, SegmentFact)>,
}

/// The entry of a segment in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentFact {
    /// The name of its file.
    pub name: String,
    /// Bytes of its file.
    pub file_length: u64,
    /// Number of records; in an id index, of pairs of an id's hash and a fingerprint's rank.
    pub records: u64,
    /// Number of distinct fingerprints, or hashes.
    pub fingerprints: u64,
    /// The checksum of its footer, which covers all of it.
    pub footer_checksum: u32,
}

/// Reads the manifest of the store at a path, and no other file.
///
/// # Errors
/// `NotFound`, `Damaged`, `Unsupported`, `Io`.
pub fn manifest(store: impl AsRef<Path>, options: &Options) -> Result<ManifestView> {
    let state = file::read(&*options.env, store.as_ref())?;
    let runs = state.runs.iter().map(view).collect();
    let ManifestData { parameters, id_assignment, next_id, next_segment, first_log, flushed, written, .. } = state;
    Ok(ManifestView { parameters, id_assignment, next_id, next_segment, first_log, flushed, written, runs })
}

fn view(run: &RunEntry) -> RunView {
    let fact = |(role, segment): (SegmentRole, &Option<SegmentEntry>)| {
        let segment = segment.as_ref()?;
        let name = segment_name(segment.number);
        let SegmentEntry { file_length, records, fingerprints, footer_checksum, .. } = *segment;
        Some((role, SegmentFact { name, file_length, records, fingerprints, footer_checksum }))
    };
    let segments = SegmentRole::each([&run.tombstones, &run.records, &run.id_index, &run.keys])
        .into_iter()
        .filter_map(fact)
        .collect();
    RunView { first: run.first, last: run.last, net_records: run.net, segments }
}
