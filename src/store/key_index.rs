//! A store of records with keys.

use super::key_snapshot::KeySnapshot;
use crate::admin::{BackupMode, BackupReport, Statistics, VerifyReport};
use crate::cluster::{Clusters, KeyLinks};
use crate::db::{Handle, Health, Recovery, StoreInner};
use crate::error::Result;
use crate::fingerprint::{Id, IdAssignment};
use crate::format::Parameters;
use crate::format::parameters::StoreKind;
use crate::join::Progress;
use crate::join::keys::{KeyPairs, KeyRule};
use crate::load::create::create_filled;
use crate::load::{Beside, CompactAfter, KeyLoadReport, KnownIds, RemoveIdsReport, SortedIds, SortedKeys};
use crate::options::Options;
use crate::query::keys::{KeyMatch, KeyQuery, KeySearcher};
use crate::version::{ReadView, Snapshot};
use std::path::Path;
use std::sync::Arc;

/// A key index: a store of records, each with an id, any number of keys and, by choice, a sketch. It answers which
/// records share keys with a query: MinHash bands, terms, or hashes of sentences.
///
/// Ids are unique: a load leaves out records whose id the index has, or replaces these. It may be shared by any number
/// of threads; loads and removals are durable when they return, and each is there whole or not at all. Two loads at the
/// same time do not see each other's ids.
///
/// ```
/// use fpstore::keys::{KeyQuery, KeySorter};
/// use fpstore::{IdRef, KeyFormat, KeyIndex, Options, Parameters};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let format = KeyFormat::default();
/// let index = KeyIndex::create(&path, &Parameters::of_keys(format), &Options::new())?;
/// let mut sorter = KeySorter::new(&path, &Options::new(), format);
/// sorter.push(IdRef::Number(1), &[0x1000 << 48, 0x2000 << 48], &[])?;
/// sorter.push(IdRef::Number(2), &[0x2000 << 48, 0x3000 << 48], &[])?;
/// index.load(sorter.finish()?)?;
/// let found = index.query(&[0x3000 << 48], &[], &KeyQuery::new())?;
/// assert_eq!(found[0].id.number(), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KeyIndex {
    handle: Handle,
}

impl KeyIndex {
    /// Makes an empty key index ([`Parameters::of_keys`]) and opens it for writing.
    ///
    /// # Errors
    /// As [`crate::Store::create`].
    pub fn create(path: impl AsRef<Path>, parameters: &Parameters, options: &Options) -> Result<Self> {
        let (handle, ()) = create_filled(path.as_ref(), parameters, options, StoreKind::Keys, |_| Ok(()))?;
        Ok(Self { handle })
    }

    /// Makes a key index that holds records from the start: after a crash at any moment, it exists with all of them or
    /// not at all.
    ///
    /// # Errors
    /// Those of [`KeyIndex::create`] and [`KeyIndex::load`].
    pub fn create_loaded(
        path: impl AsRef<Path>,
        parameters: &Parameters,
        options: &Options,
        records: SortedKeys,
    ) -> Result<(Self, KeyLoadReport)> {
        let load = |inner: &StoreInner| Ok(inner.load_keys(records, KnownIds::Stay, CompactAfter::Due)?.0);
        let (handle, report) = create_filled(path.as_ref(), parameters, options, StoreKind::Keys, load)?;
        Ok((Self { handle }, report))
    }

    /// Opens a key index for reading and writing. As [`crate::Store::open`].
    ///
    /// # Errors
    /// `NotFound`, `Locked` if another process writes, `InvalidInput` if the store is of fingerprints, `Damaged`,
    /// `Unsupported`, `Io`.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Handle::open(path.as_ref(), options, StoreKind::Keys).map(|handle| Self { handle })
    }

    /// Opens a key index for reading, and changes nothing in the directory.
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput` if the store is of fingerprints, `Damaged`, `Unsupported`, `Io`.
    pub fn open_read_only(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Handle::open_read_only(path.as_ref(), options, StoreKind::Keys).map(|handle| Self { handle })
    }

    /// As [`crate::Store::refresh`].
    ///
    /// # Errors
    /// As [`crate::Store::refresh`].
    pub fn refresh(&self) -> Result<bool> {
        self.handle.refresh()
    }

    /// Adds records, durably and all or nothing. Records whose id came before, or is in the index, are counted and left
    /// out.
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` if the records were sorted for another format, or have ids of another kind than the
    /// index; `Damaged` or `Io` from reading what is there; `Io` from writing, in which case the index is as before;
    /// `Poisoned` after a failed last step.
    pub fn load(&self, records: SortedKeys) -> Result<KeyLoadReport> {
        self.inner()
            .exclusive(|inner| inner.load_keys(records, KnownIds::Stay, CompactAfter::Due))
            .map(|(report, _)| report)
    }

    /// Adds records and removes those that have the same ids, durably and all or nothing.
    ///
    /// # Errors
    /// As [`KeyIndex::load`].
    pub fn replace(&self, records: SortedKeys) -> Result<KeyLoadReport> {
        self.inner()
            .exclusive(|inner| inner.load_keys(records, KnownIds::Replace, CompactAfter::Due))
            .map(|(report, _)| report)
    }

    /// Removes the records of many ids, durably and all or nothing.
    ///
    /// # Errors
    /// As [`crate::Store::bulk_remove_ids`].
    pub fn remove_ids(&self, ids: &SortedIds) -> Result<RemoveIdsReport> {
        self.inner().exclusive(|inner| inner.bulk_remove_ids(ids))
    }

    /// Merges all runs to one. Returns false if there was one at most, without removals.
    ///
    /// # Errors
    /// As [`crate::Store::compact`].
    pub fn compact(&self) -> Result<bool> {
        self.inner().exclusive(|inner| {
            inner.flush()?;
            inner.compact_all()
        })
    }

    /// The records that share keys with a query, most shared keys first, then by id. `sketch` may be empty.
    ///
    /// # Errors
    /// As [`KeySearcher::query`].
    pub fn query(&self, keys: &[u64], sketch: &[u8], how: &KeyQuery) -> Result<Vec<KeyMatch>> {
        self.searcher().query(keys, sketch, how)
    }

    /// A searcher that reuses its buffers, for many queries on one thread. It answers from the latest state.
    #[must_use]
    pub fn searcher(&self) -> KeySearcher<'_> {
        KeySearcher::following(&self.inner().context, &self.inner().latest)
    }

    /// All pairs of records that share keys, each once. Later writes do not change them.
    ///
    /// # Errors
    /// `InvalidInput` if a similarity is wanted that cannot be estimated.
    pub fn pairs(&self, rule: KeyRule) -> Result<KeyPairs> {
        self.snapshot().pairs(rule)
    }

    /// All pairs of a record of this index and one of another that share keys, in the order in which the records were
    /// loaded. Later writes do not change them.
    ///
    /// # Errors
    /// Those of [`KeyIndex::pairs`], and `InvalidInput` if the two indexes have keys of other hashers or widths, or
    /// other sketches.
    pub fn pairs_with(&self, other: &Self, rule: KeyRule) -> Result<KeyPairs> {
        self.snapshot().pairs_with(&other.snapshot(), rule)
    }

    /// The clusters of records that share keys. With a rule that takes any shared key, single linkage costs each key of
    /// a record once, however many records share it. Stars compare each record with the kept ones that share a key with
    /// it, and fail if the kept ones with frequent keys take more than the memory. Complete linkage, and single linkage
    /// with another rule, make the pairs.
    ///
    /// Earlier labels ([`Clusters::find_from`]) and evidence ([`Clusters::find_from_removals`]) are continued as for
    /// fingerprints: only the keys of new records are looked up, and of records in clusters that lost one. They have to
    /// be those of the same rule.
    ///
    /// # Errors
    /// `InvalidInput` if a similarity is wanted that cannot be estimated.
    pub fn clusters(&self, rule: KeyRule) -> Result<Clusters> {
        self.snapshot().clusters(rule)
    }

    /// As [`KeyIndex::clusters`], with the records of another index: those that [`KeyIndex::load`] would add to this
    /// one, in the same place. For that, unnamed temporary files get a copy of them, in the directory and within the
    /// load memory of this index's options. Later writes change nothing.
    ///
    /// A record that both have is the one of this index. Earlier labels say nothing of it, so the other index has to
    /// have those records whose keys were replaced since.
    ///
    /// # Errors
    /// Those of [`KeyIndex::pairs_with`]; `InvalidInput` if the ids are of another kind; `Unsupported` if one of the
    /// indexes numbers its records itself; `Damaged` or `Io` from reading, or from temporary files.
    pub fn clusters_with(&self, other: &Self, rule: KeyRule) -> Result<Clusters> {
        let context = &self.inner().context;
        let Beside { own, all, new } = context.options.executor.run(|| self.inner().beside(other.inner()))?;
        let new = Snapshot::new(context, ReadView::part(&own, new));
        let links = KeyLinks::new(context, all, rule)?;
        Clusters::linked(&Snapshot::new(context, own), Some(&new), Arc::new(links))
    }

    /// Calls `visit` with all records, in the order in which they were loaded, until it returns false: the id, the
    /// keys, whose bits beyond the stored ones are zero, in ascending order, and the sketch, which is empty if there is
    /// none. Sorts the keys within the options' load memory.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading, or from temporary files.
    pub fn visit_records(&self, visit: impl FnMut(&Id, &[u64], &[u8]) -> bool) -> Result<()> {
        self.snapshot().visit_records(&Progress::default(), visit)
    }

    /// The present state, kept as long as the snapshot.
    #[must_use]
    pub fn snapshot(&self) -> KeySnapshot {
        KeySnapshot::new(&self.inner().context, self.inner().read_view())
    }

    /// Sizes and counts.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        crate::admin::statistics::of_store(self.inner())
    }

    /// Checks every byte of the index's files. As [`crate::Store::verify`].
    ///
    /// # Errors
    /// As [`crate::Store::verify`].
    pub fn verify(&self) -> Result<VerifyReport> {
        crate::admin::verify(self.path(), &self.inner().context.options)
    }

    /// Copies the present state to a new directory, and verifies the copy. As [`crate::Store::backup`].
    ///
    /// # Errors
    /// As [`crate::Store::backup`].
    pub fn backup(&self, path: impl AsRef<Path>, mode: BackupMode) -> Result<BackupReport> {
        crate::admin::backup::backup(&self.handle, path.as_ref(), mode)
    }

    /// The parameters with which the index was created.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.inner().context.parameters
    }

    /// The source of the records' ids.
    #[must_use]
    pub fn id_assignment(&self) -> IdAssignment {
        self.inner().versions().manifest.id_assignment
    }

    /// The content of the logs when the index was opened.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.handle.recovery
    }

    /// The index's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner().context.path
    }

    /// Errors of background work. As [`crate::Store::health`].
    #[must_use]
    pub fn health(&self) -> Health {
        self.inner().health()
    }

    /// Closes the index and reports errors, which dropping it cannot.
    ///
    /// # Errors
    /// As [`crate::Store::close`].
    pub fn close(self) -> Result<()> {
        self.handle.close()
    }

    fn inner(&self) -> &StoreInner {
        &self.handle.inner
    }
}
