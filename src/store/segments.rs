//! Making the segments of a run.

use super::common::Common;
use super::core::Core;
use super::run::{Run, of_id_index, of_removals};
use crate::bulk::{self, Batch, Building, Expected, IdIndexEntries, OtherKeys, Pace, Workspace, batches};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Mention};
use crate::format::Parameters;
use crate::format::manifest::{RunEntry, SegmentEntry};
use crate::options::Options;
use crate::segment::{Checkpoints, Remover, Segment};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// How segments are made.
#[derive(Clone, Copy)]
pub(super) struct Making<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) expected: Expected,
    /// The keys of the tables behind the first, where somebody has them in order.
    pub(super) others: Option<&'a dyn OtherKeys>,
    pub(super) pace: Option<&'a Pace>,
    /// Where it is noted how far a segment of records has come.
    pub(super) checkpoints: Option<&'a Arc<Checkpoints>>,
}

impl<'a> Making<'a> {
    pub(super) fn new(workspace: &'a Workspace) -> Self {
        Self { workspace, expected: Expected::default(), others: None, pace: None, checkpoints: None }
    }
}

/// A segment that was made and is open.
pub(super) type Made = (SegmentEntry, Arc<Segment>);

/// Who makes segments for a store. Nothing names them until a manifest does, which is the caller's to write.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    /// The store's directory.
    pub(super) path: &'a Path,
    pub(super) options: &'a Options,
    pub(super) parameters: &'a Parameters,
    /// The number of the next segment.
    pub(super) next: &'a AtomicU64,
    pub(super) remover: &'a Arc<Remover>,
}

impl<F: Fingerprint> Core<F> {
    /// Who makes segments for this store.
    pub(super) fn maker(&self) -> Maker<'_> {
        let Common { path, options, parameters, remover, .. } = &*self.common;
        Maker { path, options, parameters, next: &self.next_segment, remover }
    }
}

impl Maker<'_> {
    /// Makes a segment of sorted records; nothing if there are none.
    pub(super) fn records<'b, F: Fingerprint>(
        self,
        making: Making<'_>,
        batches: impl Iterator<Item = Result<Batch<'b, F>>>,
    ) -> Result<Option<Made>> {
        self.make(self.parameters, making, batches)
    }

    /// Makes a segment of records that older runs are to lose; nothing if there are none.
    pub(super) fn removals<'b, F: Fingerprint>(
        self,
        making: Making<'_>,
        batches: impl Iterator<Item = Result<Batch<'b, F>>>,
    ) -> Result<Option<Made>> {
        self.make(&of_removals(self.parameters), Making { others: None, checkpoints: None, ..making }, batches)
    }

    /// Makes the id index of a segment of records, where the store has one.
    fn id_index<F: Fingerprint>(self, making: Making<'_>, records: &Made) -> Result<Option<Made>> {
        if !self.parameters.id_index() {
            return Ok(None);
        }
        let entries = IdIndexEntries::<F>::of(&records.1, making.workspace, making.pace)?;
        let making = Making { others: None, checkpoints: None, expected: Expected::default(), ..making };
        self.make(&of_id_index(self.parameters), making, entries.batches(making.workspace))
    }

    /// Makes a segment with these parameters; nothing if there are no records.
    pub(super) fn make<'b, G: Fingerprint>(
        self,
        parameters: &Parameters,
        making: Making<'_>,
        batches: impl Iterator<Item = Result<Batch<'b, G>>>,
    ) -> Result<Option<Made>> {
        let Self { path: directory, options, next, .. } = self;
        let Making { workspace, expected, others, pace, checkpoints } = making;
        let (env, number) = (&options.env, Some(next.fetch_add(1, Ordering::Relaxed)));
        let building = Building { env, directory, number, parameters, workspace, expected, others, pace, checkpoints };
        let Some(built) = bulk::write_segment(building, batches)? else { return Ok(None) };
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
    pub(super) fn run<F: Fingerprint>(
        self,
        removals: Option<Made>,
        records: Option<Made>,
        making: Making<'_>,
    ) -> Result<RunParts> {
        let mut parts = RunParts { removals, records, id_index: None };
        if let Some(records) = &parts.records {
            let id_index = self.id_index::<F>(making, records);
            parts.id_index = id_index.inspect_err(|_| parts.retire(self.remover))?;
        }
        Ok(parts)
    }

    /// The segments of a run that says what memtables say: the last word on every record, in order. Of the first run of all
    /// nothing is older, so nothing has to be removed from it.
    ///
    /// # Errors
    /// `Io` from writing: then they lose their files.
    pub(super) fn run_of_mentions<F: Fingerprint>(
        self,
        mentions: &[Mention<F>],
        is_first: bool,
        workspace: &Workspace,
    ) -> Result<RunParts> {
        let making = Making::new(workspace);
        let those = |removed: bool| {
            let records = mentions.iter().filter(move |mention| mention.removed == removed);
            batches(records.map(|mention| Ok(mention.record.clone())), workspace.memory_of_batches())
        };
        let removals = if is_first { None } else { self.removals(making, those(true))? };
        let records = self.records(making, those(false)).inspect_err(|_| {
            removals.iter().for_each(|(_, segment)| segment.retire(self.remover));
        })?;
        self.run::<F>(removals, records, making)
    }
}

/// The segments of a run whose sequence numbers are not known yet.
#[derive(Clone, Debug)]
pub(super) struct RunParts {
    pub(super) removals: Option<Made>,
    pub(super) records: Option<Made>,
    pub(super) id_index: Option<Made>,
}

impl RunParts {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.removals.is_none() && self.records.is_none()
    }

    /// How many records it adds, less those that it removes; none if that is no number of a run.
    pub(super) fn count(&self) -> Option<i64> {
        let count = |made: &Option<Made>| made.as_ref().map_or(Some(0), |made| i64::try_from(made.0.records).ok());
        count(&self.records)?.checked_sub(count(&self.removals)?)
    }

    /// Bytes of the files.
    pub(super) fn bytes(&self) -> u64 {
        let made = [&self.removals, &self.records, &self.id_index].into_iter().flatten();
        made.map(|made| made.0.file_length).fold(0, u64::saturating_add)
    }

    /// Has the files removed.
    pub(super) fn retire(&self, remover: &Arc<Remover>) {
        let made = [&self.removals, &self.records, &self.id_index].into_iter().flatten();
        made.for_each(|made| made.1.retire(remover));
    }

    /// The run of these sequence numbers, by which there are so many records more; none without segments.
    pub(super) fn into_run(self, first: u64, last: u64, net: Option<i64>) -> Option<Arc<Run>> {
        if self.is_empty() {
            return None;
        }
        let Self { removals, records, id_index } = self;
        let entry_of = |made: &Option<Made>| made.as_ref().map(|made| made.0);
        let entry = RunEntry {
            first,
            last,
            removals: entry_of(&removals),
            records: entry_of(&records),
            id_index: entry_of(&id_index),
            net,
        };
        let open = |made: Option<Made>| made.map(|made| made.1);
        let (removals, records, id_index) = (open(removals), open(records), open(id_index));
        Some(Arc::new(Run { entry, removals, records, id_index, counted: OnceLock::new() }))
    }
}

/// Bytes of a run's files.
pub(super) fn bytes_of(entry: &RunEntry) -> u64 {
    entry.segments().fold(0, |sum, segment| segment.file_length.saturating_add(sum))
}
