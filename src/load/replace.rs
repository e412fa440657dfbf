//! Giving many ids other fingerprints at once: what goes and what comes are one run.

use crate::db::StoreInner;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, IdAssignment, IdKind};
use crate::load::bulk_load::{LoadReport, Loaded, Merging};
use crate::load::records::SortedRecords;
use crate::load::sorted_ids::IdSorter;

/// Parts of the memory of a replacement: its old records, and its ids, may take one each.
const PARTS: u64 = 2;

/// What a replacement has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplaceReport {
    /// What came of the records of the input. Those that the store had already stay as they are.
    pub loaded: LoadReport,
    /// Other records of the same ids, which were removed.
    pub removed: u64,
    /// Records of the input whose id has another fingerprint there too.
    pub several: u64,
}

impl StoreInner {
    /// Gives the ids of the records these fingerprints and no others; whether runs were merged.
    pub(crate) fn bulk_replace<F: Fingerprint>(
        &self,
        records: SortedRecords<F>,
        merging: Merging,
    ) -> Result<(ReplaceReport, bool)> {
        self.check_replaced(&records)?;
        self.load(records, |records, first_number| {
            let workspace = records.workspace().part(PARTS);
            let mut ids = IdSorter::within(&workspace);
            for record in records.records() {
                ids.push(record?.id.as_ref())?;
            }
            let ids = ids.finish()?;
            let several = ids.given() - ids.count()?;
            let (old, _) = self.records_of_ids(&ids, &workspace)?;
            drop(ids);
            let Loaded { report, removed, merged } = self.load_reserved(records, Some(&old), first_number, merging)?;
            Ok((ReplaceReport { loaded: report, removed, several }, merged))
        })
    }

    /// Refuses stores whose ids name no documents of the user.
    fn check_replaced<F: Fingerprint>(&self, records: &SortedRecords<F>) -> Result<()> {
        if self.context.parameters.ids() == IdKind::None {
            return Err(self.without_ids());
        }
        if self.writer()?.get().id_assignment == IdAssignment::Auto && !records.is_empty() {
            let error = Error::invalid("the store numbers its records itself, so no id stands for a document");
            return Err(error.at_path(&self.context.path).with_remedy("make a store of records with ids of their own"));
        }
        Ok(())
    }
}
