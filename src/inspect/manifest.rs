//! What a manifest says.

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
    /// What was fixed when the store was created.
    pub parameters: Parameters,
    /// Who gives records their ids.
    pub id_assignment: IdAssignment,
    /// The next number for a record without an id, without what the logs say.
    pub next_id: u64,
    /// The number of the next segment.
    pub next_segment: u64,
    /// The number of the first log that may have writes which no segment has.
    pub first_log: u64,
    /// The last sequence number whose writes are in segments.
    pub flushed: u64,
    /// Bytes that were ever written.
    pub written: WrittenBytes,
    /// Oldest first.
    pub runs: Vec<RunView>,
}

/// A run: what came of the writes of some sequence numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunView {
    /// The first sequence number whose writes are in it.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// How many records more the store has with this run than with the older runs alone, where the manifest says it.
    pub net_records: Option<i64>,
    /// What its segments hold, and these.
    pub segments: Vec<(SegmentRole, SegmentFact)>,
}

/// What a manifest says of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentFact {
    /// The name of its file.
    pub name: String,
    /// Bytes of its file.
    pub file_length: u64,
    /// Its records; of an id index, pairs of an id's hash and a fingerprint's rank.
    pub records: u64,
    /// Its distinct fingerprints, or hashes.
    pub fingerprints: u64,
    /// The checksum that stands for all of it.
    pub footer_checksum: u32,
}

/// Reads the manifest of the store at a path. Nothing else is opened.
///
/// # Errors
/// `NotFound`, `Damaged`, `Unsupported`, `Io`.
pub fn manifest(store: impl AsRef<Path>, options: &Options) -> Result<ManifestView> {
    let state = file::read(&*options.env, store.as_ref())?;
    let runs = state.runs.iter().map(view).collect();
    let ManifestData { parameters, id_assignment, next_id, next_segment, first_log, flushed, written, .. } = state;
    let written = WrittenBytes::of(written);
    Ok(ManifestView { parameters, id_assignment, next_id, next_segment, first_log, flushed, written, runs })
}

fn view(run: &RunEntry) -> RunView {
    let fact = |(role, segment): (SegmentRole, &Option<SegmentEntry>)| {
        let segment = segment.as_ref()?;
        let name = segment_name(segment.number);
        let SegmentEntry { file_length, records, fingerprints, footer_checksum, .. } = *segment;
        Some((role, SegmentFact { name, file_length, records, fingerprints, footer_checksum }))
    };
    let segments = [
        (SegmentRole::Tombstones, &run.tombstones),
        (SegmentRole::Records, &run.records),
        (SegmentRole::IdIndex, &run.id_index),
    ];
    let segments = segments.into_iter().filter_map(fact).collect();
    RunView { first: run.first, last: run.last, net_records: run.net, segments }
}
