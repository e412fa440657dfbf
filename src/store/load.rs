//! Loading, removing and replacing many records at once.

use super::Store;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::load::{CompactAfter, IntoSorted, LoadReport, RemoveIdsReport, RemoveReport, ReplaceReport, SortedIds};

impl<F: Fingerprint> Store<F> {
    /// Adds records, durably and all or nothing. Records that the store has already are counted and left out.
    ///
    /// Other threads may write meanwhile. All new records become visible at one moment, shortly before the call
    /// returns. The call decides at its start which records are new: a present one that another thread removes
    /// meanwhile stays removed.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Record, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// drop(Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?);
    /// let store = Store::<u64>::open(&path, &Options::new())?;
    /// let page = Record::new(0x832f_e9f6_aa2f_461a, 17);
    /// let report = store.bulk_load(Records::WithIds(vec![page.clone(), page]))?;
    /// assert_eq!((report.added(), report.already_present), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` if the records have ids and the store numbers them itself, or the reverse; `Damaged`
    /// or `Io` from reading what is there; `Io` from writing, in which case the store is as before;
    /// `Poisoned` after a failed last step.
    pub fn bulk_load(&self, records: impl IntoSorted<F>) -> Result<LoadReport> {
        let records = records.into_sorted(self.path(), &self.inner().context.options)?;
        self.inner().exclusive(|inner| inner.bulk_load(records, CompactAfter::Due)).map(|(report, _)| report)
    }

    /// Adds records and makes one segment of all; whether there were several. This is one step, unless other threads
    /// write meanwhile: then the records are added first, and stay if the compaction fails.
    ///
    /// # Errors
    /// As [`Store::bulk_load`]; the store is as before.
    pub fn bulk_load_compact(&self, records: impl IntoSorted<F>) -> Result<(LoadReport, bool)> {
        let records = records.into_sorted(self.path(), &self.inner().context.options)?;
        self.inner().exclusive(|inner| inner.bulk_load(records, CompactAfter::All))
    }

    /// Removes many records, durably and all or nothing; those that the store does not have are counted. Without ids,
    /// each given record lowers the count of its fingerprint by one.
    ///
    /// Other threads may write meanwhile. All records go at one moment, shortly before the call returns. The call
    /// decides at its start which records go: one that another thread adds meanwhile stays, and a present one goes even
    /// if another thread adds it again.
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` if the records have no ids and the store's have; `Damaged` or `Io` from reading what
    /// is there; `Io` from writing, in which case the store is as before; `Poisoned`.
    pub fn bulk_remove(&self, records: impl IntoSorted<F>) -> Result<RemoveReport> {
        let records = records.into_sorted(self.path(), &self.inner().context.options)?;
        self.inner().exclusive(|inner| inner.bulk_remove(&records))
    }

    /// Removes all records of many ids, durably and all or nothing; ids that no record has are counted. Writes of other
    /// threads count as in [`Store::bulk_remove`].
    ///
    /// Few ids are looked up in the id index ([`crate::Parameters::with_id_index`]); otherwise all records are read.
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` if the store has no ids, or others than these; `Damaged` or `Io` from reading what is
    /// there; `Io` from writing, in which case the store is as before; `Poisoned`.
    pub fn bulk_remove_ids(&self, ids: &SortedIds) -> Result<RemoveIdsReport> {
        self.inner().exclusive(|inner| inner.bulk_remove_ids(ids))
    }

    /// Gives documents other fingerprints, durably and all or nothing: afterwards each id of the input has exactly the
    /// fingerprints of the input. New ids are added. Writes of other threads count as in [`Store::bulk_load`] and
    /// [`Store::bulk_remove`].
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Record, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let pages = vec![Record::new(0xaa, "/a"), Record::new(0xbb, "/b")];
    /// let parameters = Parameters::new(3).with_ids(fpstore::IdKind::Text);
    /// let (store, _) = Store::<u64>::create_loaded(&path, &parameters, &Options::new(), Records::WithIds(pages))?;
    /// let crawled = vec![Record::new(0xab, "/a"), Record::new(0xbb, "/b"), Record::new(0xcc, "/c")];
    /// let report = store.bulk_replace(Records::WithIds(crawled))?;
    /// assert_eq!((report.loaded.added(), report.removed, report.loaded.already_present), (2, 1, 1));
    /// assert!(store.get(0xaa)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` if the store has no ids, or numbers its records itself, or the input has other ids;
    /// `Damaged` or `Io` from reading what is there; `Io` from writing, in which case the store is as before;
    /// `Poisoned`.
    pub fn bulk_replace(&self, records: impl IntoSorted<F>) -> Result<ReplaceReport> {
        let records = records.into_sorted(self.path(), &self.inner().context.options)?;
        self.inner().exclusive(|inner| inner.bulk_replace(records, CompactAfter::Due)).map(|(report, _)| report)
    }

    /// As [`Store::bulk_replace`], and makes one segment of all, in the steps of [`Store::bulk_load_compact`]; whether
    /// there were several.
    ///
    /// # Errors
    /// As [`Store::bulk_replace`].
    pub fn bulk_replace_compact(&self, records: impl IntoSorted<F>) -> Result<(ReplaceReport, bool)> {
        let records = records.into_sorted(self.path(), &self.inner().context.options)?;
        self.inner().exclusive(|inner| inner.bulk_replace(records, CompactAfter::All))
    }
}
