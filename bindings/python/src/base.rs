//! What stores of fingerprints and key indexes share, and their snapshots: classes of Python that theirs extend.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fpstore::Parameters;
use fpstore::admin::{BackupMode, Statistics};
use fpstore::keys::KeySnapshot;
use fpstore_bindings::AnySnapshot;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::arguments::Opening;
use crate::log::log;
use crate::opened::{Opened, shown};
use crate::process::OfProcess;
use crate::source::Source;
use crate::{call, given, reports};

/// A store of fingerprints or a key index: what both of them have. `fpstore.create` and `fpstore.open` make them.
///
/// Any number of threads may use it at the same time. As a context manager it closes at the end.
///
/// >>> import fpstore as fp, tempfile
/// >>> folder = tempfile.mkdtemp()
/// >>> store = fp.create(folder + "/store")
/// >>> store.load([7, 6, 2**64 - 1], ids=[1, 2, 3])["added"]
/// 3
/// >>> isinstance(store, fp.BaseStore), isinstance(fp.create(folder + "/index", kind="keys"), fp.BaseStore)
/// (True, True)
#[pyclass(frozen, subclass, name = "BaseStore", module = "fpstore")]
pub(crate) struct PyBaseStore(pub(crate) Arc<Opened>, pub(crate) Opening);

#[pymethods]
impl PyBaseStore {
    /// The directory, a `pathlib.Path`.
    ///
    /// >>> store.path.name
    /// 'store'
    #[getter]
    fn path(&self) -> &PathBuf {
        &self.0.path
    }

    /// The kind of ids: "u64", "text" or, of fingerprints, "none".
    ///
    /// >>> store.ids
    /// 'u64'
    #[getter]
    fn ids(&self) -> PyResult<&'static str> {
        Ok(self.0.get()?.parameters().ids().name())
    }

    /// What made the fingerprints or keys; None if that is not recorded.
    ///
    /// >>> store.hasher is None
    /// True
    #[getter]
    fn hasher(&self) -> PyResult<Option<String>> {
        Ok(self.0.get()?.parameters().hasher().map(str::to_owned))
    }

    /// Whether it is open for reading alone.
    ///
    /// >>> store.read_only
    /// False
    #[getter]
    fn read_only(&self) -> bool {
        self.0.is_read_only
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(usize::try_from(self.0.statistics(py)?.records).unwrap_or(usize::MAX))
    }

    /// True, also for an empty store.
    fn __bool__(&self) -> bool {
        true
    }

    /// Sizes and counts, a dictionary with the fields of `fpdump stats --json`; sizes are in bytes. A notebook shows it
    /// as a table.
    ///
    /// >>> store.stats()["records"]
    /// 3
    fn stats(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        reports::statistics(py, &self.0.statistics(py)?)
    }

    /// Checks every byte of its files. As `fpstore.verify`.
    ///
    /// >>> store.verify()["damages"]
    /// []
    fn verify(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let handle = self.0.get()?;
        reports::verified(py, &self.0.path, &call::change(py, &handle, |_| Ok(()), |handle| handle.verify())?)
    }

    /// Copies the present state to a new directory and verifies the copy; the number of its records. With
    /// hard_links=True, files are shared where the file system can do that. Raises AlreadyExistsError if there is
    /// something at the path.
    ///
    /// >>> store.backup(folder + "/copy")
    /// 3
    #[pyo3(signature = (path, *, hard_links=false))]
    fn backup(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = given::path)] path: PathBuf,
        #[pyo3(from_py_with = given::hard_links)] hard_links: bool,
    ) -> PyResult<u64> {
        let (handle, to) = (self.0.get()?, path.clone());
        let mode = if hard_links { BackupMode::Link } else { BackupMode::Copy };
        let records = call::change(py, &handle, |_| Ok(()), move |handle| handle.backup(&to, mode))?.records;
        let (from, to) = (self.0.path.display(), path.display());
        log(py, "info", &format!("{from}: backed up to {to}, {records} records"))?;
        Ok(records)
    }

    /// Merges all runs to one. False if there was nothing to merge.
    ///
    /// >>> store.compact()
    /// False
    fn compact(&self, py: Python<'_>) -> PyResult<bool> {
        let handle = self.0.get()?;
        let merged = call::change(py, &handle, |_| Ok(()), |handle| handle.compact())?;
        log(py, "info", &format!("{}: {}", self.0.path.display(), if merged { "compacted" } else { "is compact" }))?;
        Ok(merged)
    }

    /// Removes the records of many ids, a column, all or nothing; returns their number. A store of fingerprints needs
    /// an id index, or it raises UnsupportedError.
    ///
    /// >>> fp.create(folder + "/some", id_index=True).remove_ids([1, 2])
    /// 0
    fn remove_ids(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<u64> {
        let (handle, source) = (self.0.get()?, Source::of("ids", ids)?);
        call::change(py, &handle, |_| Ok(()), move |handle| fpstore_bindings::remove_ids(handle, source.pieces))
    }

    /// Moves a store that is open for reading on to the latest state; whether there was one.
    ///
    /// >>> reader = fp.open(store.path, read_only=True)
    /// >>> store.load([5], ids=[4])["added"], len(reader), reader.refresh(), len(reader)
    /// (1, 3, True, 4)
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let handle = self.0.get()?;
        py.detach(|| handle.refresh()).map_err(crate::errors::of_store)
    }

    /// Closes it and reports errors; later calls raise InvalidInputError. Ctrl-C ends the wait, and it goes on closing.
    ///
    /// >>> store.close()
    /// >>> store
    /// <fpstore.Store ...store (closed)>
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.close(py)
    }

    /// The arguments of `open` that open it again, for pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if !self.0.is_read_only {
            return Err(crate::errors::invalid(
                "only a store that is open with read_only=True can be pickled, as its path",
            ));
        }
        let arguments = (self.0.path.clone(), self.1.given(py)?);
        (py.import("fpstore")?.getattr("_open_read_only")?, arguments).into_bound_py_any(py)
    }

    fn __repr__(this: &Bound<'_, Self>) -> PyResult<String> {
        let (opened, class) = (&this.get().0, this.get_type().name()?.to_string());
        let handle = opened.get().ok();
        let mode = if opened.is_read_only { ", read-only" } else { "" };
        Ok(shown(&class, &opened.path, handle.as_ref().map(|handle| handle.parameters()), mode))
    }
}

/// The state that a snapshot holds.
pub(crate) enum State {
    Fingerprints(AnySnapshot),
    Keys(KeySnapshot),
}

impl State {
    fn parameters(&self) -> &Parameters {
        match self {
            Self::Fingerprints(snapshot) => snapshot.parameters(),
            Self::Keys(snapshot) => snapshot.parameters(),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Fingerprints(snapshot) => snapshot.path(),
            Self::Keys(snapshot) => snapshot.path(),
        }
    }

    fn statistics(&self) -> Statistics {
        match self {
            Self::Fingerprints(snapshot) => snapshot.statistics(),
            Self::Keys(snapshot) => snapshot.statistics(),
        }
    }
}

/// A state of a store of fingerprints or of a key index: what both of them have. `snapshot()` makes it. It has all
/// earlier writes and no later ones.
///
/// >>> import fpstore as fp, tempfile
/// >>> store = fp.create(tempfile.mkdtemp() + "/store")
/// >>> store.insert(7, 1)
/// >>> before = store.snapshot()
/// >>> store.insert(6, 2)
/// >>> isinstance(before, fp.BaseSnapshot), len(before), len(store)
/// (True, 1, 2)
#[pyclass(frozen, subclass, name = "BaseSnapshot", module = "fpstore")]
pub(crate) struct PyBaseSnapshot {
    state: OfProcess<State>,
    path: PathBuf,
}

impl PyBaseSnapshot {
    pub(crate) fn new(state: State) -> Self {
        Self { path: state.path().to_owned(), state: OfProcess::new(state) }
    }
}

#[pymethods]
impl PyBaseSnapshot {
    /// The directory of the store, a `pathlib.Path`.
    ///
    /// >>> before.path == store.path
    /// True
    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of ids: "u64", "text" or, of fingerprints, "none".
    ///
    /// >>> before.ids
    /// 'u64'
    #[getter]
    fn ids(&self) -> PyResult<&'static str> {
        Ok(self.state.of_snapshot()?.parameters().ids().name())
    }

    /// What made the fingerprints or keys; None if that is not recorded.
    ///
    /// >>> before.hasher is None
    /// True
    #[getter]
    fn hasher(&self) -> PyResult<Option<&str>> {
        Ok(self.state.of_snapshot()?.parameters().hasher())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let state = self.state.of_snapshot()?;
        Ok(usize::try_from(py.detach(|| state.statistics()).records).unwrap_or(usize::MAX))
    }

    /// True, also for an empty one.
    fn __bool__(&self) -> bool {
        true
    }

    /// Sizes and counts. As `BaseStore.stats`.
    ///
    /// >>> before.stats()["records"]
    /// 1
    fn stats(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let state = self.state.of_snapshot()?;
        reports::statistics(py, &py.detach(|| state.statistics()))
    }

    fn __repr__(this: &Bound<'_, Self>) -> PyResult<String> {
        let Self { state, path } = this.get();
        Ok(shown(&this.get_type().name()?.to_string(), path, state.get().map(State::parameters), ""))
    }
}
