//! The facade: a store is a directory of segments and logs under one manifest, and holds a set of records.
//!
//! One process at a time may have it open for writing, from any number of threads; any number of processes may read.
//!
//! **Durability.** A write is appended to a log and entered in a memtable, where all readers see it at once; the caller
//! chooses its [`Durability`](crate::Durability). Full memtables become segments, segments are compacted, and obsolete
//! logs are removed. After any crash that its durability covers, an acknowledged write or load is there; a batch, and a
//! load, is there whole or not at all.
//!
//! **Errors.** A failed sync, or a manifest that cannot be made durable, leaves the content of the files in doubt. The
//! store then refuses writes ([`ErrorKind::Poisoned`](crate::ErrorKind::Poisoned)) until it is opened again, and goes
//! on answering queries; likewise if its directory was replaced by another one. No other error touches acknowledged
//! records: a failed write or load may be tried again, and background work tries again by itself ([`Store::health`]).
//!
//! [`Store`] has no logic of its own. `write.rs` and `load.rs` call [`crate::db`] and [`crate::load`], `query.rs` and
//! `snapshot.rs` call [`crate::query`], [`crate::join`] and [`crate::cluster`], `admin.rs` calls [`crate::admin`].
//! [`any::AnyStore`] is a store of any width, [`key_index::KeyIndex`] one of records with keys. The threads and locks
//! are those of [`crate::db`]; format-spec/ specifies the files.

mod admin;
pub(crate) mod any;
pub(crate) mod key_index;
pub(crate) mod key_snapshot;
mod load;
mod query;
mod snapshot;
mod write;

use crate::db::{Handle, Recovery, StoreInner};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, IdAssignment};
use crate::format::Parameters;
use crate::format::parameters::StoreKind;
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
    /// Where ids are numbers, the first record that is written decides for good whether the store numbers its records
    /// or their ids come with them, unless [`Parameters::with_id_assignment`] says so here.
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

    /// Makes a store that holds `records` from the start: after a crash at any moment, it exists with all of them or
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

    /// Opens a store for reading and writing, and removes the leftovers of an interrupted process. Reads writes that
    /// are in no segment yet from the logs; see [`Store::recovery`].
    ///
    /// # Errors
    /// `NotFound`, `Locked` if another process writes, `InvalidInput` if the store is of another width, `Damaged`,
    /// `Unsupported`, `Io`.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Handle::open(path.as_ref(), options, StoreKind::Fingerprints { width: F::WIDTH }).map(Self::typed)
    }

    /// Opens a store for reading, and changes nothing in the directory. [`Store::refresh`] makes later writes visible.
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput` if the store is of another width, `Damaged`, `Unsupported`, `Io`.
    pub fn open_read_only(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Handle::open_read_only(path.as_ref(), options, StoreKind::Fingerprints { width: F::WIDTH }).map(Self::typed)
    }

    /// Makes the writes of another process since opening, or since the last refresh, visible; whether there were any. A
    /// store that is open for writing always sees everything.
    ///
    /// # Errors
    /// `InvalidInput` if the path has another store now, with other parameters: open it again. `Damaged`,
    /// `Unsupported`, `Io`: the state is as before, or has those later batches that could be read; the next call reads
    /// on.
    pub fn refresh(&self) -> Result<bool> {
        self.handle.refresh()
    }

    /// The content of the logs when the store was opened.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.handle.recovery
    }

    /// The store's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner().context.path
    }

    /// The present state, kept as long as the snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<F> {
        Snapshot::new(&self.inner().context, self.inner().read_view())
    }

    /// The parameters with which the store was created.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.inner().context.parameters
    }

    /// The source of the records' ids.
    #[must_use]
    pub fn id_assignment(&self) -> IdAssignment {
        self.inner().versions().manifest.id_assignment
    }

    /// Closes the store and reports errors, which dropping it cannot: whether all writes are durable. Background
    /// threads end; their unfinished work begins again when the store is opened.
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
    /// `Poisoned` if an earlier error has left the content of the files in doubt, or a background thread has panicked;
    /// `Io` if the log cannot be synced.
    pub fn close(self) -> Result<()> {
        self.handle.close()
    }

    fn typed(handle: Handle) -> Self {
        Self { handle, width: PhantomData }
    }

    pub(crate) fn inner(&self) -> &StoreInner {
        &self.handle.inner
    }
}

/// The parameters with which the store at the path was created, such as the width, which is needed for opening it.
///
/// # Errors
/// `NotFound`, `Damaged`, `Unsupported`, `Io`.
pub fn parameters_of(path: impl AsRef<Path>, options: &Options) -> Result<Parameters> {
    manifest::read(&*options.env, path.as_ref()).map(|manifest| manifest.parameters)
}
