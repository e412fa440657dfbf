//! Memtables to a run of a store that nobody has open for writing: of a copy that is being made, or one that is being
//! repaired.
//!
//! The run says what the memtables say, last words only. Nothing names its segments until a manifest does, which is the
//! caller's to write. Specified in format-spec/store.md, Flushing.

use super::run::{of_id_index, of_removals};
use crate::bulk::{self, Batch, Building, Built, Expected, IdIndexEntries, Workspace, batches};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Mention};
use crate::format::Parameters;
use crate::format::manifest::RunEntry;
use crate::merge::Merge;
use crate::options::Options;
use crate::segment::Segment;
use std::path::Path;
use std::sync::Arc;

/// The store that the run is for.
#[derive(Clone, Copy)]
pub(super) struct SetDown<'a> {
    pub(super) path: &'a Path,
    pub(super) options: &'a Options,
    pub(super) parameters: &'a Parameters,
    pub(super) workspace: &'a Workspace,
}

impl SetDown<'_> {
    /// The run with sequence numbers `first` to `last` of what memtables say; nothing if they say nothing. Of the first run of
    /// all nothing is older, so nothing has to be removed from it. `number` gives the numbers of segments, in order.
    ///
    /// # Errors
    /// Those of the memtables; `Io` from writing.
    pub(super) fn run<F: Fingerprint>(
        self,
        memtables: Merge<F>,
        (first, last): (u64, u64),
        is_first: bool,
        number: &mut dyn FnMut() -> u64,
    ) -> Result<Option<RunEntry>> {
        let Self { options, parameters, workspace, .. } = self;
        let mentions: Vec<Mention<F>> = memtables.map(|word| word.map(|word| word.mention)).collect::<Result<_>>()?;
        let those = |removed: bool| {
            let records = mentions.iter().filter(move |mention| mention.removed == removed);
            batches(records.map(|mention| Ok(mention.record.clone())), workspace.memory_of_batches())
        };
        let removals = if is_first { None } else { self.segment(number(), &of_removals(parameters), those(true))? };
        let records = self.segment(number(), parameters, those(false))?;
        let mut id_index = None;
        if let (true, Some(records)) = (parameters.id_index(), &records) {
            let segment = Arc::new(Segment::open(&*options.env, &records.path, options.read_mode)?);
            let entries = IdIndexEntries::<F>::of(&segment, workspace)?;
            id_index = self.segment(number(), &of_id_index(parameters), entries.batches(workspace))?;
        }
        if removals.is_none() && records.is_none() {
            return Ok(None);
        }
        let entry = |built: Option<Built>| built.map(|built| built.entry);
        let (removals, records, id_index) = (entry(removals), entry(records), entry(id_index));
        Ok(Some(RunEntry { first, last, removals, records, id_index }))
    }

    /// A segment of these records; nothing if there are none.
    ///
    /// # Errors
    /// Those of the batches; `Io` from writing.
    fn segment<'b, G: Fingerprint>(
        self,
        number: u64,
        parameters: &Parameters,
        batches: impl Iterator<Item = Result<Batch<'b, G>>>,
    ) -> Result<Option<Built>> {
        let Self { path, options, workspace, .. } = self;
        let building = Building {
            env: &options.env,
            directory: path,
            number: Some(number),
            parameters,
            workspace,
            expected: Expected::default(),
            others: None,
            pace: None,
            checkpoints: None,
        };
        bulk::write_segment(building, batches)
    }
}
