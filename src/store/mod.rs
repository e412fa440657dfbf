//! The store: a directory of segments and logs under one manifest.
//!
//! A store is a set of records. It is created once with its [`Parameters`], loaded in bulk or written to at any time, and
//! asked. One process at a time may have it open for writing, from any number of threads; any number of processes may read.
//!
//! **What is kept.** A write is appended to a log and entered in a memtable, where all who ask see it at once; how durable it
//! is when it returns, the caller says ([`Durability`]). Full memtables become segments, segments are merged
//! (`compaction`), and the logs go. What a write or a load has returned from is there after any crash that its durability
//! covers; a batch, and a load, is there whole or not at all.
//!
//! **What fails.** If a sync fails, or a manifest cannot be made durable, it is in doubt what the files hold, and asking the
//! device again would not tell. The store then takes no further writes ([`ErrorKind::Poisoned`]) until it is opened again; it
//! goes on answering. So it does if its directory was moved away and another one is in its place. Everything else touches
//! nothing that was acknowledged: a write or a load that fails may be tried again; flushing and merging in the background are
//! tried again by themselves, and [`Store::health`] tells what they fail of.

mod admin;
pub(crate) mod any;
mod load;
mod query;
mod snapshot;
mod write;

use crate::db::{Handle, Recovery, StoreInner};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, IdAssignment};
use crate::format::Parameters;
use crate::load::create::create;
use crate::load::{IntoSorted, LoadReport};
use crate::options::Options;
use crate::version::{Snapshot, manifest};
use std::marker::PhantomData;
use std::path::Path;

/// An open store. It may be shared by any number of threads.
///
/// ```
/// use fpstore::{Durability, Id, Options, Parameters, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
/// store.insert(0x832f_e9f6_aa2f_461a, 1, Durability::SyncData)?;
/// store.insert(0x0000_c4d3_ba6c_de29, 2, Durability::SyncData)?;
/// let matches = store.query(0x832f_e9f6_aa2f_461b, 3)?;
/// assert_eq!((&matches[0].id, matches[0].distance), (&Id::Number(1), 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store<F: Fingerprint = u64> {
    handle: Handle,
    width: PhantomData<F>,
}

impl<F: Fingerprint> Store<F> {
    /// Makes an empty store and opens it for writing.
    ///
    /// Where ids are numbers, the first record that is written decides for good whether the store numbers its records or
    /// their ids come with them, unless [`Parameters::with_id_assignment`] says so here.
    ///
    /// # Errors
    /// `AlreadyExists` if there is a store, or a directory with other files; `InvalidInput` if the parameters are not
    /// possible; `Locked`; `Io`.
    pub fn create(path: impl AsRef<Path>, parameters: &Parameters, options: &Options) -> Result<Self> {
        create::<F>(path.as_ref(), parameters, options, None).map(|(handle, _)| Self::typed(handle))
    }

    /// Whether a store may be created at the path: nothing is there, or nothing but what an interrupted creation left.
    ///
    /// # Errors
    /// `AlreadyExists` if there is a store or anything else; `Io`.
    #[cfg(feature = "unstable")]
    pub fn check_vacant(path: impl AsRef<Path>, options: &Options) -> Result<()> {
        crate::db::vacancy_for_store(&*options.env, path.as_ref()).map(|_| ())
    }

    /// Makes a store that holds `records` from the start: after a crash at any moment it is there with all of them, or
    /// not at all.
    ///
    /// # Errors
    /// Those of [`Store::create`] and [`Store::bulk_load`].
    pub fn create_loaded(
        path: impl AsRef<Path>,
        parameters: &Parameters,
        options: &Options,
        records: impl IntoSorted<F>,
    ) -> Result<(Self, LoadReport)> {
        let records = records.into_sorted(path.as_ref(), options)?;
        let (handle, report) = create(path.as_ref(), parameters, options, Some(records))?;
        Ok((Self::typed(handle), report))
    }

    /// Opens a store for reading and writing, and removes what an interrupted process has left behind. Writes that were in
    /// no segment yet are read from the logs; [`Store::recovery`] tells what was found there.
    ///
    /// # Errors
    /// `NotFound`, `Locked` if another process writes, `InvalidInput` if the store is of another width, `Damaged`,
    /// `Unsupported`, `Io`.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Handle::open(path.as_ref(), options, F::WIDTH).map(Self::typed)
    }

    /// Opens a store for reading. Nothing in the directory is changed. What a writer writes later is seen after
    /// [`Store::refresh`].
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput` if the store is of another width, `Damaged`, `Unsupported`, `Io`.
    pub fn open_read_only(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Handle::open_read_only(path.as_ref(), options, F::WIDTH).map(Self::typed)
    }

    /// Sees what another process has written since a store was opened for reading, or refreshed; whether there was anything. A
    /// store that is open for writing sees everything anyway.
    ///
    /// # Errors
    /// `InvalidInput` if the store at the path is another one now, with other parameters: it is to be opened anew. `Damaged`,
    /// `Unsupported`, `Io`: then the state is the one of before, or with as many of the later batches as could be read; asking
    /// again reads on.
    pub fn refresh(&self) -> Result<bool> {
        self.handle.refresh()
    }

    /// What was found in the logs when the store was opened.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.handle.recovery
    }

    /// The store's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner().context.path
    }

    /// The state of now, for as long as it is kept.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<F> {
        Snapshot::new(&self.inner().context, self.inner().state())
    }

    /// What was fixed when the store was created.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.inner().context.parameters
    }

    /// Who gives the records their ids.
    #[must_use]
    pub fn id_assignment(&self) -> IdAssignment {
        self.inner().versions().manifest.id_assignment
    }

    /// Closes the store, and tells what dropping it cannot: whether all that was written is durable. Background threads end; what
    /// they leave undone is done when the store is opened again.
    ///
    /// ```
    /// # use fpstore::{Durability, Options, Parameters, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
    /// store.insert(0x832f_e9f6_aa2f_461a, 1, Durability::Buffered)?;
    /// store.close()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Poisoned` if an earlier write has left in doubt what the files hold, or a background thread has panicked; `Io` if the log
    /// cannot be synced.
    pub fn close(self) -> Result<()> {
        self.handle.close()
    }

    /// A store whose fingerprints are known to be of this type.
    fn typed(handle: Handle) -> Self {
        Self { handle, width: PhantomData }
    }

    /// The engine.
    pub(crate) fn inner(&self) -> &StoreInner {
        &self.handle.inner
    }
}

/// What was fixed when the store at the path was created: its width, above all, which whoever opens it has to know.
///
/// # Errors
/// `NotFound`, `Damaged`, `Unsupported`, `Io`.
pub fn parameters_of(path: impl AsRef<Path>, options: &Options) -> Result<Parameters> {
    manifest::read(&*options.env, path.as_ref()).map(|manifest| manifest.parameters)
}
