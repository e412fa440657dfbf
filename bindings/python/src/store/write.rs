//! Single writes, and small columns of them.

use fpstore_bindings::Stop;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use super::asked::columns;
use super::{PyStore, distance, width_of, within};
use crate::arguments::durability as durability_of;
use crate::batch::PyBatch;
use crate::errors::invalid;
use crate::scalar::{GivenId, fingerprint as single, id_of, one};
use crate::{call, given};

/// The id of a single record, if there is one.
fn id_given(id: Option<&Bound<'_, PyAny>>) -> PyResult<Option<GivenId>> {
    id.map(given::id).transpose()
}

#[pymethods]
impl PyStore {
    /// Saves prefix filters in files beside the segments, so that later `open` reads them instead of making them.
    /// Returns the bytes written, 0 if these or larger ones were saved before, or the tables are small. They take 1
    /// to 4 bytes a fingerprint and table.
    ///
    /// Raises ReadOnlyError, PoisonedError.
    ///
    /// >>> store.save_filters()
    /// 0
    fn save_filters(&self, py: Python<'_>) -> PyResult<u64> {
        let handle = self.0.get()?;
        call::change(py, &handle, |_| Ok(()), |handle| handle.store()?.save_filters())
    }

    /// Adds a record, or all records of two columns at once. `durability` says what the write survives when the call
    /// returns: "sync" a power failure, "buffered" the end of the process, "sync-all" as sync, with the file's
    /// metadata.
    ///
    /// Raises InvalidInputError if the fingerprint or the id is refused, ReadOnlyError, PoisonedError.
    ///
    /// >>> store.insert(0x832fe9f6aa2f461a, 13)
    /// >>> store.insert([1, 2], [14, 15], durability="buffered")
    /// >>> len(store)
    /// 6
    #[pyo3(signature = (fingerprint, id=None, *, durability="sync"))]
    fn insert(
        &self,
        py: Python<'_>,
        fingerprint: &Bound<'_, PyAny>,
        id: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = given::durability)] durability: &str,
    ) -> PyResult<()> {
        let (handle, durability) = (self.0.get()?, durability_of(durability)?);
        if let Some(one) = single(fingerprint, width_of(&handle))? {
            let id = id_given(id)?;
            return within(py, &handle, |store| store.insert(one, id_of(id.as_ref()), durability));
        }
        let (column, ids) = columns(&handle, fingerprint, id)?;
        let work = move |stop: &Stop| fpstore_bindings::insert(&handle, &column, ids.as_ref(), durability, stop);
        call::run(py, work).map(drop)
    }

    /// Adds a record unless there is one within distance `k`, in bits. Returns whether it was added; for columns, a
    /// batch with `inserted`, `number`, and where a record was not added `id` and `distance` of the same record, or of
    /// the nearest with another id.
    ///
    /// >>> store.insert_if_new(0b0001, 20, k=1), store.insert_if_new([2**32 - 1], [21]).to_pydict()["inserted"]
    /// (False, [True])
    #[pyo3(signature = (fingerprint, id=None, *, ids=None, k=None, durability="sync"))]
    fn insert_if_new<'py>(
        &self,
        py: Python<'py>,
        fingerprint: &Bound<'py, PyAny>,
        id: Option<&Bound<'py, PyAny>>,
        ids: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
        #[pyo3(from_py_with = given::durability)] durability: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (handle, durability) = (self.0.get()?, durability_of(durability)?);
        if id.is_some() && ids.is_some() {
            return Err(invalid("id and ids are the same argument by two names: give one of them"));
        }
        let (id, k) = (id.or(ids), distance(&handle, k));
        if let Some(one) = single(fingerprint, width_of(&handle))? {
            let id = id_given(id)?;
            let outcome = within(py, &handle, |store| store.insert_if_new(one, id_of(id.as_ref()), k, durability))?;
            return outcome.inserted.into_bound_py_any(py);
        }
        let (column, ids) = columns(&handle, fingerprint, id)?;
        let work =
            move |stop: &Stop| fpstore_bindings::insert_if_new(&handle, &column, ids.as_ref(), k, durability, stop);
        PyBatch::new(call::run(py, work)?).into_bound_py_any(py)
    }

    /// Removes a record, or all records of two columns at once; returns how many there were.
    ///
    /// >>> store.remove(0b0000, 10), store.remove([0b0111, 5], [11, 11])
    /// (1, 1)
    #[pyo3(signature = (fingerprint, id=None, *, durability="sync"))]
    fn remove(
        &self,
        py: Python<'_>,
        fingerprint: &Bound<'_, PyAny>,
        id: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = given::durability)] durability: &str,
    ) -> PyResult<u64> {
        let (handle, durability) = (self.0.get()?, durability_of(durability)?);
        if let Some(one) = single(fingerprint, width_of(&handle))? {
            let id = id_given(id)?;
            return within(py, &handle, |store| store.remove(one, id_of(id.as_ref()), durability)).map(u64::from);
        }
        let (column, ids) = columns(&handle, fingerprint, id)?;
        let work = move |stop: &Stop| fpstore_bindings::remove(&handle, &column, ids.as_ref(), durability, stop);
        call::run(py, work)
    }

    /// Removes all records of an id, and returns their number. The store needs an id index.
    ///
    /// >>> store.remove_id(10), store.remove_id(10)
    /// (1, 0)
    #[pyo3(signature = (id, *, durability="sync"))]
    fn remove_id(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = given::id)] id: GivenId,
        #[pyo3(from_py_with = given::durability)] durability: &str,
    ) -> PyResult<u64> {
        let (handle, durability) = (self.0.get()?, durability_of(durability)?);
        within(py, &handle, |store| store.remove_id(id.as_ref(), durability))
    }

    /// Gives an id this fingerprint alone, and returns how many records of the id were removed. The store needs an id
    /// index.
    ///
    /// >>> store.replace(0b1000, 10), store.get_id(10)
    /// (1, [8])
    #[pyo3(signature = (fingerprint, id, *, durability="sync"))]
    fn replace(
        &self,
        py: Python<'_>,
        fingerprint: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = given::id)] id: GivenId,
        #[pyo3(from_py_with = given::durability)] durability: &str,
    ) -> PyResult<u64> {
        let (handle, durability) = (self.0.get()?, durability_of(durability)?);
        let one = one(fingerprint, width_of(&handle))?;
        within(py, &handle, |store| store.replace(one, id.as_ref(), durability))
    }

    /// A `Writer`: writes of one durability, for a `with` block that ends with a sync.
    ///
    /// >>> with store.writer(durability="buffered") as writer:
    /// ...     writer.insert(5, 20)
    #[pyo3(signature = (durability="sync"))]
    fn writer<'py>(
        this: Bound<'py, Self>,
        #[pyo3(from_py_with = given::durability)] durability: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        durability_of(durability)?;
        this.py().import("fpstore._writer")?.call_method1("Writer", (this, durability))
    }

    /// Makes earlier writes durable, as `durability` of `insert` says. Ctrl-C ends the wait.
    ///
    /// >>> store.insert(5, 20, durability="buffered")
    /// >>> store.sync()
    #[pyo3(signature = (durability="sync"))]
    fn sync(&self, py: Python<'_>, #[pyo3(from_py_with = given::durability)] durability: &str) -> PyResult<()> {
        let (handle, durability) = (self.0.get()?, durability_of(durability)?);
        call::run(py, move |_| handle.store()?.sync(durability))
    }
}
