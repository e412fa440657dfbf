//! Giving many ids other fingerprints in one run.

use crate::db::StoreInner;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, IdAssignment, IdKind};
use crate::load::bulk_load::{CompactAfter, LoadReport, Loaded};
use crate::load::records::SortedRecords;
use crate::load::sorted_ids::IdSorter;

/// Finding the old records takes one of this many parts of the memory. `IdSorter` and `records_of_ids` divide it
/// further.
const PARTS: u64 = 2;

/// The result of a replacement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplaceReport {
    /// The load of the records. Those that the store had already stay.
    pub loaded: LoadReport,
    /// Other records of the same ids that were removed.
    pub removed: u64,
    /// Records of the input whose id has another fingerprint in the input too.
    pub several: u64,
}

impl StoreInner {
    /// Replaces the records of the same ids. Returns whether runs were merged.
    pub(crate) fn bulk_replace<F: Fingerprint>(
        &self,
        records: SortedRecords<F>,
        after: CompactAfter,
    ) -> Result<(ReplaceReport, bool)> {
        self.check_replaced(&records)?;
        self.load(records, |records, first_number| {
            let workspace = records.workspace().part(PARTS);
            let mut ids = IdSorter::within(&workspace);
            for record in records.records() {
                ids.push(record?.id.as_ref())?;
            }
            let ids = ids.finish()?;
            let (old, unknown) = self.records_of_ids(&self.read_view(), &ids, &workspace)?;
            let several = ids.given() - unknown.looked_up;
            drop(ids);
            let Loaded { report, removed, compacted } = self.load_reserved(records, Some(&old), first_number, after)?;
            Ok((ReplaceReport { loaded: report, removed, several }, compacted))
        })
    }

    /// Refuses stores whose ids do not come from the caller.
    fn check_replaced<F: Fingerprint>(&self, records: &SortedRecords<F>) -> Result<()> {
        if self.context.parameters.ids() == IdKind::None {
            return Err(self.without_ids());
        }
        if self.writer()?.id_assignment == IdAssignment::Auto && !records.is_empty() {
            let error = Error::invalid("the store numbers its records itself, so no id stands for a document");
            return Err(error.at_path(&self.context.path).with_remedy("make a store of records with ids of their own"));
        }
        Ok(())
    }
}
