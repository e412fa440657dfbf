//! A state as segments alone, without tombstones: a join reads them several times.

use crate::error::Result;
use crate::extsort::Workspace;
use crate::fingerprint::{Fingerprint, Record};
use crate::format::parameters::check_same_records;
use crate::join::job::JobContext;
use crate::segment::{Building, Making, Segment, SegmentFile, chunks, write_segment};
use crate::version::{NewestEntries, ReadView, Snapshot, StoreContext, of_records};
use std::sync::{Arc, OnceLock};

/// States, and their clean segments once they were made.
#[derive(Clone, Debug)]
pub(crate) struct CleanSegments {
    states: Vec<(Arc<StoreContext>, ReadView)>,
    segments: Arc<OnceLock<Vec<Arc<Segment>>>>,
}

impl CleanSegments {
    pub(crate) fn new<F: Fingerprint>(snapshot: &Snapshot<F>) -> Self {
        Self { states: vec![state(snapshot)], segments: Arc::default() }
    }

    /// With the states of other stores.
    ///
    /// # Errors
    /// `InvalidInput` if their ids are of another kind, or their fingerprints were made by another hasher.
    pub(crate) fn with_more<F: Fingerprint>(mut self, others: &[Snapshot<F>]) -> Result<Self> {
        if let Some((context, _)) = self.states.first() {
            others.iter().try_for_each(|other| check_same_records(&context.parameters, other.parameters()))?;
        }
        self.states.extend(others.iter().map(state));
        self.segments = Arc::default();
        Ok(self)
    }

    /// The segments, made by the first call.
    pub(crate) fn segments<F: Fingerprint>(&self, job: &JobContext) -> Result<&[Arc<Segment>]> {
        if self.segments.get().is_none() {
            // Not under a lock of the cell: all threads of the current pool might wait for it.
            let workspace = job.workspace(job.memory / 2);
            let made = job.executor.run(|| {
                let of_states = self.states.iter().map(|(context, view)| segments::<F>(context, view, &workspace));
                Ok(of_states.collect::<Result<Vec<_>>>()?.concat())
            })?;
            // Another thread may have been faster; its segments stay.
            let _ = self.segments.set(made);
        }
        Ok(self.ready())
    }

    pub(crate) fn ready(&self) -> &[Arc<Segment>] {
        self.segments.get().map_or(&[], Vec::as_slice)
    }
}

fn state<F: Fingerprint>(snapshot: &Snapshot<F>) -> (Arc<StoreContext>, ReadView) {
    (Arc::clone(snapshot.context()), snapshot.read_view().clone())
}

/// The segments of a state. Without tombstones: its own, and one more for its memtables. With tombstones: a single one
/// of all records. A new segment is in a temporary file without a name, which vanishes with its last reader.
fn segments<F: Fingerprint>(
    context: &StoreContext,
    view: &ReadView,
    workspace: &Workspace,
) -> Result<Vec<Arc<Segment>>> {
    let mut segments = Vec::new();
    let records: Box<dyn Iterator<Item = Result<Record<F>>>> = if view.has_tombstones() {
        Box::new(view.newest_entries().live())
    } else {
        segments.clone_from(&view.version.segments);
        if view.visible() == 0 && view.version.memtables.len() < 2 {
            return Ok(segments);
        }
        let mut merge = NewestEntries::default();
        view.memtables().rev().for_each(|(memtable, visible)| merge.add_entries(memtable.entries(visible)));
        Box::new(merge.live())
    };
    let parameters = of_records(&context.parameters).with_id_index(false);
    let (env, directory, making) = (&workspace.env, &*workspace.directory, Making::new(workspace));
    let building = Building { env, directory, number: None, parameters: &parameters, making };
    let built = write_segment::<F>(building, chunks(records, workspace.memory_of_chunks()))?;
    if let Some((path, file)) = built.and_then(|built| Some((built.path, built.unnamed?))) {
        segments.push(Arc::new(Segment::of_file(SegmentFile::new(&path, file))?));
    }
    Ok(segments)
}
