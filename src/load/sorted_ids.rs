//! Any number of distinct ids, in the order of every id index.

use crate::error::{Error, Result};
use crate::extsort::Workspace;
use crate::fingerprint::{Id, IdRef};
use crate::load::records::{RecordIds, RecordSorter, SortedRecords};
use crate::options::Options;
use crate::segment::id_hash_of;
use std::path::Path;

/// Ids take one of this many parts of an operation's memory.
const PART: u64 = 4;

/// Takes ids one by one and sorts them within a quarter of the options' load memory; the others go to unnamed temporary
/// files.
///
/// ```
/// use fpstore::bulk::IdSorter;
/// use fpstore::{IdRef, Options, Parameters, Record, Records, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let loaded = Records::WithIds(vec![Record::new(0xaa, 1), Record::new(0xbb, 1), Record::new(0xcc, 2)]);
/// let (store, _) = Store::<u64>::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
/// let mut ids = IdSorter::new(&path, &Options::new());
/// ids.push(IdRef::Number(1))?;
/// ids.push(IdRef::Number(7))?;
/// let report = store.bulk_remove_ids(&ids.finish()?)?;
/// assert_eq!((report.removed, report.unknown, report.left), (2, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct IdSorter(RecordSorter<u64>);

impl IdSorter {
    /// For a store at `path`; temporary files as for [`RecordSorter::new`].
    #[must_use]
    pub fn new(path: &Path, options: &Options) -> Self {
        Self::within(&Workspace::new(path, options))
    }

    pub(crate) fn within(workspace: &Workspace) -> Self {
        Self(RecordSorter::within(workspace.part(PART)))
    }

    /// Takes an id. A repeated id changes nothing.
    ///
    /// # Errors
    /// `InvalidInput` if other ids were of another kind, or it is none; `Io` from temporary files.
    pub fn push(&mut self, id: IdRef<'_>) -> Result<()> {
        let hash = id_hash_of(id).ok_or_else(|| Error::invalid("an id is missing"))?;
        self.0.push(hash, id)
    }

    /// The ids in order.
    ///
    /// # Errors
    /// `Io` from temporary files.
    pub fn finish(self) -> Result<SortedIds> {
        self.0.finish().map(SortedIds)
    }
}

/// Sorted ids to look up in a store: numbers or texts.
#[derive(Debug)]
pub struct SortedIds(SortedRecords<u64>);

impl SortedIds {
    /// Number of ids that were given, equal ones included.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.0.given()
    }

    pub(crate) fn kind(&self) -> RecordIds {
        self.0.ids()
    }

    /// The distinct ids with their hashes.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Result<(u64, Id)>> {
        self.0.records().map(|record| record.map(|record| (record.fingerprint, record.id)))
    }
}
