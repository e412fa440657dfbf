//! Removing many records at once.

use crate::db::{Parts, StoreInner, records_of_runs};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, IdKind};
use crate::load::bulk_load::{CompactAfter, MadeRun, last_of};
use crate::load::records::SortedRecords;
use crate::segment::{Expected, Making};
use crate::version::{MembershipCursor, run_segments};

/// The result of a removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoveReport {
    /// Records in the input.
    pub records: u64,
    /// Records that were removed.
    pub removed: u64,
    /// Records that are left; an upper bound if damage keeps some from being counted.
    pub left: u64,
}

impl StoreInner {
    pub(crate) fn bulk_remove<F: Fingerprint>(&self, records: &SortedRecords<F>) -> Result<RemoveReport> {
        let counted = self.context.parameters.ids() == IdKind::None;
        let _counting = counted.then(|| self.counting.lock());
        self.flush_beside()?;
        self.check_ids(records)?;
        let workspace = self.beside_indexes(records.workspace());
        let runs = self.versions().runs.clone();
        let mut present = MembershipCursor::new(run_segments(&runs));
        let pieces = records.chunks().flat_map(|batch| match batch {
            Ok(batch) => batch.pieces().into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        let found = pieces.map(|batch| present.present(batch?));
        let expected = Expected { text_bytes: records.text_bytes(), ..Expected::default() };
        let making = Making { expected, ..Making::new(&workspace) };
        let tombstones = self.maker().tombstones(making, found)?;
        let run = self.maker().run::<F>(Parts { tombstones, ..Parts::default() }, making)?;
        let removed = run.entry.removed();
        if !run.is_empty() {
            // The counting lock keeps other removals of counted records out.
            let made = MadeRun { run, last: last_of(&runs), is_apart: counted };
            self.add_run(made, CompactAfter::Due, &workspace)?;
        }
        let left = records_of_runs::<F>(&self.super_version().runs).0;
        Ok(RemoveReport { records: records.given(), removed, left })
    }

    fn check_ids<F: Fingerprint>(&self, records: &SortedRecords<F>) -> Result<()> {
        let kind = self.context.parameters.ids();
        Err(self.refused(match kind {
            _ if records.ids().fit(kind) => return Ok(()),
            IdKind::None => {
                ("has no ids, the input has", "name the fingerprints alone, each as often as it is to be removed")
            }
            _ => ("has ids of another kind than the input", "name records as `fpdump scan` prints them"),
        }))
    }
}
