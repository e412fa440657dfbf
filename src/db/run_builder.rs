//! Making the segments of a run.

use crate::error::Result;
use crate::executor::RateLimiter;
use crate::extsort::Workspace;
use crate::fingerprint::{Entry, Fingerprint};
use crate::format::manifest::{RunEntry, SegmentEntry};
use crate::format::parameters::Parameters;
use crate::options::Options;
use crate::segment::{
    Building, Expected, IdIndexEntries, ObsoleteFiles, RecordChunk, SecondaryKeySource, Segment, chunks, write_segment,
};
use crate::version::{Run, of_id_index, of_tombstones};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// How segments are made.
#[derive(Clone, Copy)]
pub(crate) struct Making<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) expected: Expected,
    /// The keys of the tables behind the first, where somebody has them in order.
    pub(crate) secondary: Option<&'a dyn SecondaryKeySource>,
    pub(crate) limiter: Option<&'a RateLimiter>,
}

impl<'a> Making<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Self {
        Self { workspace, expected: Expected::default(), secondary: None, limiter: None }
    }
}

/// A segment that was made and is open.
pub(crate) type Made = (SegmentEntry, Arc<Segment>);

/// Who makes segments for a store. Nothing names them until a manifest does, which is the caller's to write.
#[derive(Clone, Copy)]
pub(crate) struct Maker<'a> {
    /// The store's directory.
    pub(crate) path: &'a Path,
    pub(crate) options: &'a Options,
    pub(crate) parameters: &'a Parameters,
    /// The number of the next segment.
    pub(crate) next: &'a AtomicU64,
    pub(crate) obsolete_files: &'a Arc<ObsoleteFiles>,
}

impl Maker<'_> {
    /// Makes a segment of sorted records; nothing if there are none.
    pub(crate) fn records<'b, F: Fingerprint>(
        self,
        making: Making<'_>,
        chunks: impl Iterator<Item = Result<RecordChunk<'b, F>>>,
    ) -> Result<Option<Made>> {
        self.make(self.parameters, making, chunks)
    }

    /// Makes a segment of records that older runs are to lose; nothing if there are none.
    pub(crate) fn tombstones<'b, F: Fingerprint>(
        self,
        making: Making<'_>,
        chunks: impl Iterator<Item = Result<RecordChunk<'b, F>>>,
    ) -> Result<Option<Made>> {
        self.make(&of_tombstones(self.parameters), Making { secondary: None, ..making }, chunks)
    }

    /// Makes the id index of a segment of records, where the store has one.
    fn id_index<F: Fingerprint>(self, making: Making<'_>, records: &Made) -> Result<Option<Made>> {
        if !self.parameters.id_index() {
            return Ok(None);
        }
        let entries = IdIndexEntries::<F>::of(&records.1, making.workspace, making.limiter)?;
        let making = Making { secondary: None, expected: Expected::default(), ..making };
        self.make(&of_id_index(self.parameters), making, entries.chunks(making.workspace))
    }

    /// Makes a segment with these parameters; nothing if there are no records.
    pub(crate) fn make<'b, G: Fingerprint>(
        self,
        parameters: &Parameters,
        making: Making<'_>,
        chunks: impl Iterator<Item = Result<RecordChunk<'b, G>>>,
    ) -> Result<Option<Made>> {
        let Self { path: directory, options, next, .. } = self;
        let Making { workspace, expected, secondary, limiter } = making;
        let (env, number) = (&options.env, Some(next.fetch_add(1, Ordering::Relaxed)));
        let building = Building { env, directory, number, parameters, workspace, expected, secondary, limiter };
        let Some(built) = write_segment(building, chunks)? else { return Ok(None) };
        match Segment::open(&*options.env, &built.path, options.read_mode) {
            Ok(segment) => Ok(Some((built.entry, Arc::new(segment)))),
            Err(error) => {
                // Nothing refers to the file yet.
                let _ = options.env.remove(&built.path);
                Err(error)
            }
        }
    }

    /// Puts segments together, with the id index of the records. If that fails, they lose their files.
    pub(crate) fn run<F: Fingerprint>(
        self,
        tombstones: Option<Made>,
        records: Option<Made>,
        making: Making<'_>,
    ) -> Result<RunParts> {
        let mut parts = RunParts { tombstones, records, id_index: None };
        if let Some(records) = &parts.records {
            let id_index = self.id_index::<F>(making, records);
            parts.id_index = id_index.inspect_err(|_| parts.mark_obsolete(self.obsolete_files))?;
        }
        Ok(parts)
    }

    /// The segments of a run that says what memtables say: the last word on every record, in order. Of the first run of all
    /// nothing is older, so nothing has to be removed from it.
    ///
    /// # Errors
    /// `Io` from writing: then they lose their files.
    pub(crate) fn run_of_entries<F: Fingerprint>(
        self,
        entries: &[Entry<F>],
        is_first: bool,
        workspace: &Workspace,
    ) -> Result<RunParts> {
        let making = Making::new(workspace);
        let those = |removed: bool| {
            let records = entries.iter().filter(move |entry| entry.is_tombstone == removed);
            chunks(records.map(|entry| Ok(entry.record.clone())), workspace.memory_of_chunks())
        };
        let tombstones = if is_first { None } else { self.tombstones(making, those(true))? };
        let records = self.records(making, those(false)).inspect_err(|_| {
            tombstones.iter().for_each(|(_, segment)| segment.mark_obsolete(self.obsolete_files));
        })?;
        self.run::<F>(tombstones, records, making)
    }
}

/// The segments of a run whose sequence numbers are not known yet.
#[derive(Clone, Debug)]
pub(crate) struct RunParts {
    pub(crate) tombstones: Option<Made>,
    pub(crate) records: Option<Made>,
    pub(crate) id_index: Option<Made>,
}

impl RunParts {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.tombstones.is_none() && self.records.is_none()
    }

    /// How many records it adds, less those that it removes; none if that is no number of a run.
    pub(crate) fn count(&self) -> Option<i64> {
        let count = |made: &Option<Made>| made.as_ref().map_or(Some(0), |made| i64::try_from(made.0.records).ok());
        count(&self.records)?.checked_sub(count(&self.tombstones)?)
    }

    /// Bytes of the files.
    pub(crate) fn bytes(&self) -> u64 {
        let made = [&self.tombstones, &self.records, &self.id_index].into_iter().flatten();
        made.map(|made| made.0.file_length).fold(0, u64::saturating_add)
    }

    /// Has the files removed.
    pub(crate) fn mark_obsolete(&self, obsolete_files: &Arc<ObsoleteFiles>) {
        let made = [&self.tombstones, &self.records, &self.id_index].into_iter().flatten();
        made.for_each(|made| made.1.mark_obsolete(obsolete_files));
    }

    /// The run of these sequence numbers, by which there are so many records more; none without segments.
    pub(crate) fn into_run(self, first: u64, last: u64, net: Option<i64>) -> Option<Arc<Run>> {
        if self.is_empty() {
            return None;
        }
        let Self { tombstones, records, id_index } = self;
        let entry_of = |made: &Option<Made>| made.as_ref().map(|made| made.0);
        let entry = RunEntry {
            first,
            last,
            tombstones: entry_of(&tombstones),
            records: entry_of(&records),
            id_index: entry_of(&id_index),
            net,
        };
        let open = |made: Option<Made>| made.map(|made| made.1);
        let (tombstones, records, id_index) = (open(tombstones), open(records), open(id_index));
        Some(Arc::new(Run { entry, tombstones, records, id_index, counted: OnceLock::new() }))
    }
}

/// Bytes of a run's files.
pub(crate) fn bytes_of(entry: &RunEntry) -> u64 {
    entry.segments().fold(0, |sum, segment| segment.file_length.saturating_add(sum))
}
