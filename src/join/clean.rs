//! A state as segments alone, none of which hides anything of another: what joins go through again and again.

use crate::error::Result;
use crate::extsort::Workspace;
use crate::fingerprint::{Fingerprint, Record};
use crate::join::job::JobContext;
use crate::segment::{Building, Segment, SegmentFile, chunks, write_segment};
use crate::version::{ReadView, Snapshot, StoreContext};
use std::sync::{Arc, OnceLock};

/// A state that is made clean when somebody needs it.
#[derive(Clone, Debug)]
pub(crate) struct CleanSegments {
    context: Arc<StoreContext>,
    state: ReadView,
    /// Its segments, once somebody has asked for them.
    segments: Arc<OnceLock<Vec<Arc<Segment>>>>,
}

impl CleanSegments {
    pub(crate) fn new<F: Fingerprint>(snapshot: &Snapshot<F>) -> Self {
        let (context, state) = (Arc::clone(snapshot.context()), snapshot.state().clone());
        Self { context, state, segments: Arc::default() }
    }

    /// The segments; always the same ones.
    ///
    /// # Errors
    /// Those of making them.
    pub(crate) fn segments<F: Fingerprint>(&self, job: &JobContext) -> Result<&[Arc<Segment>]> {
        if self.segments.get().is_none() {
            // Who waits for it may be all threads of the current pool.
            let workspace = job.workspace(job.memory / 2);
            let made = job.executor.run(|| segments::<F>(&self.context, &self.state, &workspace))?;
            // Somebody else may have been faster, with the same ones.
            let _ = self.segments.set(made);
        }
        Ok(self.ready())
    }

    /// The segments, if somebody has asked for them before.
    pub(crate) fn ready(&self) -> &[Arc<Segment>] {
        self.segments.get().map_or(&[], Vec::as_slice)
    }
}

/// The segments of a state. Where nothing was removed they are its own, and one more in a temporary file for what is in
/// memtables; otherwise all is merged to one in a temporary file. It has no name, and vanishes with the last who reads it.
///
/// # Errors
/// `Damaged` or `Io` from reading; `Io` from temporary files.
fn segments<F: Fingerprint>(
    context: &StoreContext,
    state: &ReadView,
    workspace: &Workspace,
) -> Result<Vec<Arc<Segment>>> {
    let mut segments = Vec::new();
    let records: Box<dyn Iterator<Item = Result<Record<F>>>> = if state.has_tombstones() {
        Box::new(state.merge().live())
    } else {
        segments.clone_from(&state.view.segments);
        if state.visible() == 0 && state.view.memtables.len() < 2 {
            return Ok(segments);
        }
        let mut merge = crate::version::NewestEntries::default();
        state.memtables().rev().for_each(|(memtable, visible)| merge.add_entries(memtable.entries(visible)));
        Box::new(merge.live())
    };
    let parameters = context.parameters.clone().with_id_index(false);
    let building = Building::new(&workspace.env, &workspace.directory, None, &parameters, workspace);
    let built = write_segment::<F>(building, chunks(records, workspace.memory_of_chunks()))?;
    if let Some((path, file)) = built.and_then(|built| Some((built.path, built.unnamed?))) {
        segments.push(Arc::new(Segment::of_file(SegmentFile::new(&path, file))?));
    }
    Ok(segments)
}
