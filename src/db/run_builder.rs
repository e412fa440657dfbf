//! Builds the segments of a run.

use crate::error::Result;
use crate::extsort::Workspace;
use crate::fingerprint::{Entry, Fingerprint};
use crate::format::manifest::{RunEntry, SegmentEntry};
use crate::format::parameters::Parameters;
use crate::options::Options;
use crate::segment::{
    Building, Expected, IdIndexEntries, Making, ObsoleteFiles, RecordChunk, Segment, SegmentFile, chunks, write_segment,
};
use crate::version::{Run, of_id_index, of_keys, of_records, of_tombstones};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) type Made = (SegmentEntry, Arc<Segment>);

/// The segments of a run.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) tombstones: Option<Made>,
    pub(crate) records: Option<Made>,
    pub(crate) keys: Option<Made>,
}

/// Builds segments for a store. The caller writes the manifest that names them.
#[derive(Clone, Copy)]
pub(crate) struct Maker<'a> {
    pub(crate) path: &'a Path,
    pub(crate) options: &'a Options,
    pub(crate) parameters: &'a Parameters,
    /// The number of the next segment; `None`: segments are unnamed files.
    pub(crate) next: Option<&'a AtomicU64>,
    /// Removes the file of a segment that is dropped before `install` keeps it; `None`: the caller does.
    pub(crate) obsolete_files: Option<&'a Arc<ObsoleteFiles>>,
}

impl Maker<'_> {
    /// Builds a segment of sorted records; `None` if there are none.
    pub(crate) fn records<'b, F: Fingerprint>(
        self,
        making: Making<'_>,
        chunks: impl Iterator<Item = Result<RecordChunk<'b, F>>>,
    ) -> Result<Option<Made>> {
        self.make(&of_records(self.parameters), making, chunks)
    }

    /// Builds a segment of sorted tombstones; `None` if there are none.
    pub(crate) fn tombstones<'b, F: Fingerprint>(
        self,
        making: Making<'_>,
        chunks: impl Iterator<Item = Result<RecordChunk<'b, F>>>,
    ) -> Result<Option<Made>> {
        self.make(&of_tombstones(self.parameters), Making { secondary: None, ..making }, chunks)
    }

    /// Builds a segment of sorted keys with the numbers of their records; `None` if there are no keys.
    pub(crate) fn keys<'b>(
        self,
        making: Making<'_>,
        chunks: impl Iterator<Item = Result<RecordChunk<'b, u64>>>,
    ) -> Result<Option<Made>> {
        self.make(&of_keys(self.parameters), making, chunks)
    }

    fn id_index<F: Fingerprint>(self, making: Making<'_>, records: &Made) -> Result<Option<Made>> {
        let entries = IdIndexEntries::of::<F>(&records.1, making.workspace, making.limiter)?;
        let making = Making { secondary: None, expected: Expected::default(), ..making };
        self.make(&of_id_index(self.parameters), making, entries.chunks(making.workspace))
    }

    /// Builds a segment with these parameters; `None` if there are no records.
    pub(crate) fn make<'b, G: Fingerprint>(
        self,
        parameters: &Parameters,
        making: Making<'_>,
        chunks: impl Iterator<Item = Result<RecordChunk<'b, G>>>,
    ) -> Result<Option<Made>> {
        let Self { path: directory, options, next, .. } = self;
        let (env, number) = (&options.env, next.map(|next| next.fetch_add(1, Ordering::Relaxed)));
        let built = write_segment(Building { env, directory, number, parameters, making }, chunks)?;
        let Some(built) = built else { return Ok(None) };
        let segment = match built.unnamed {
            Some(file) => Segment::of_file(SegmentFile::new(&built.path, file))?,
            None => Segment::open_cached(&*options.env, &built.path, options.read_mode, &options.page_cache)
                .inspect_err(|_| _ = options.env.remove(&built.path))?,
        };
        self.obsolete_files.into_iter().for_each(|files| segment.mark_obsolete(files));
        Ok(Some((built.entry, Arc::new(segment))))
    }

    /// The run of these segments, without numbers ([`Run::numbered`]).
    pub(crate) fn run<F: Fingerprint>(self, parts: Parts, making: Making<'_>) -> Result<Run> {
        let Parts { tombstones, records, keys } = parts;
        let id_index = match records.as_ref().filter(|_| self.parameters.id_index()) {
            Some(records) => self.id_index::<F>(making, records)?,
            None => None,
        };
        let ((tombstone_entry, tombstones), (record_entry, records)) = (tombstones.unzip(), records.unzip());
        let ((index_entry, id_index), (keys_entry, keys)) = (id_index.unzip(), keys.unzip());
        let entry = RunEntry {
            first: 0,
            last: 0,
            tombstones: tombstone_entry,
            records: record_entry,
            id_index: index_entry,
            keys: keys_entry,
            net: None,
        };
        Ok(Run { entry, tombstones, records, id_index, keys, counted: OnceLock::new() })
    }

    /// Builds the segments of a run from the newest entries of memtables, in order. The first run of a store needs no
    /// tombstones.
    pub(crate) fn run_of_entries<F: Fingerprint>(
        self,
        entries: Vec<Entry<F>>,
        is_first: bool,
        workspace: &Workspace,
    ) -> Result<Run> {
        let making = Making::new(workspace);
        let (removed, added): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.is_tombstone);
        let chunks_of = |entries: Vec<Entry<F>>| {
            chunks(entries.into_iter().map(|entry| Ok(entry.record)), workspace.memory_of_chunks())
        };
        let tombstones = if is_first { None } else { self.tombstones(making, chunks_of(removed))? };
        let records = self.records(making, chunks_of(added))?;
        self.run::<F>(Parts { tombstones, records, keys: None }, making)
    }
}
