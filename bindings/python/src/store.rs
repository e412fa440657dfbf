//! A store of fingerprints.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fpstore::AnyFingerprint;
use fpstore_bindings::{Deed, Handle, Stop};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answers::PyAnswers;
use crate::arguments::{Size, durability as durability_of};
use crate::batch::PyBatch;
use crate::errors::of_store;
use crate::jobs::{Asked, check_hasher, columns, single};
use crate::opened::{Opened, backup_mode, bar, remove_ids, report, told};
use crate::scalar::{GivenId, id_of, id_to_py, matches, one, to_int};
use crate::snapshot::PySnapshot;
use crate::source::{Source, Together};
use crate::{call, reports};

/// A store of fingerprints, made by `fpstore.create` or opened by `fpstore.open`.
///
/// Any number of threads may use it at the same time. As a context manager it closes at the end.
///
/// Fingerprints are integers, bytes (most significant first) or hexadecimal digits; many of them are an Arrow array or
/// stream, a NumPy array or another buffer, or a sequence. 64-bit fingerprints are uint64 in Arrow and NumPy, wider ones
/// fixed_size_binary(16 or 32), or rows of uint8. `k` is a distance in bits; without it, the one that the store is made
/// for.
///
/// >>> import fpstore as fp, tempfile
/// >>> store = fp.create(tempfile.mkdtemp() + "/store", max_distance=3)
/// >>> store.load([0b0000, 0b0111, 2**64 - 1], ids=[10, 11, 12])["added"]
/// 3
/// >>> [match.id for match in store.query(0b0001, k=2)]
/// [10, 11]
#[pyclass(frozen, name = "Store", module = "fpstore")]
pub(crate) struct PyStore(pub(crate) Opened);

impl PyStore {
    pub(crate) fn new(handle: Handle) -> Self {
        Self(Opened::new(handle))
    }

    pub(crate) fn asked(&self) -> PyResult<Asked> {
        let handle = self.0.get()?;
        Ok(Asked { snapshot: handle.snapshot().map_err(of_store)?, threads: handle.threads })
    }

    fn width_of(handle: &Handle) -> u32 {
        handle.parameters().width()
    }

    /// Works with the store without the lock of the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&fpstore::AnyStore) -> fpstore::Result<T> + Send,
    ) -> PyResult<T> {
        within(py, &*self.0.get()?, work)
    }

    fn k(handle: &Handle, k: Option<u32>) -> u32 {
        k.unwrap_or_else(|| handle.parameters().max_distance())
    }

    /// Loads, replaces or removes the records of columns.
    fn bulk<'py>(
        &self,
        py: Python<'py>,
        deed: Deed,
        records: &Bound<'py, PyAny>,
        ids: Option<&Bound<'py, PyAny>>,
        (fingerprint_column, id_column): (&str, Option<&str>),
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let handle = self.0.get()?;
        let source = Source::of_fingerprints(records, Self::width_of(&handle))?;
        check_hasher(&source, handle.parameters().hasher())?;
        let is_table = source.is_table();
        let ids = ids.map(Source::of).transpose()?;
        let has_ids = ids.is_some();
        let names = (fingerprint_column.to_owned(), id_column.map(str::to_owned));
        let pieces = Together::new(vec![("records", Some(source)), ("ids", ids)]).map(move |piece| {
            let mut piece = piece?.into_iter();
            let (Some(records), ids) = (piece.next().flatten(), piece.next().flatten()) else {
                return Err(fpstore_bindings::input::invalid("there are no records"));
            };
            if !is_table {
                return Ok((records, ids));
            }
            let fingerprints = Source::column(&records, &names.0)?;
            Ok((fingerprints, if has_ids { ids } else { Source::named(&records, names.1.as_deref(), "id")? }))
        });
        let seen = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&seen);
        let work = move |handle: &Handle| {
            fpstore_bindings::load(handle, deed, pieces, |records| {
                counted.store(records, Relaxed);
                Ok(())
            })
        };
        bar(py, progress, "records", |progress| report(py, call::change(py, &handle, told(progress, &seen), work)?))
    }
}

#[pymethods]
impl PyStore {
    /// The directory.
    #[getter]
    fn path(&self) -> &PathBuf {
        self.0.path()
    }

    /// Bits of a fingerprint.
    #[getter]
    fn width(&self) -> PyResult<u32> {
        Ok(Self::width_of(&*self.0.get()?))
    }

    /// The distance in bits for which the store is made.
    #[getter]
    fn max_distance(&self) -> PyResult<u32> {
        Ok(self.0.get()?.parameters().max_distance())
    }

    /// "u64", "text" or "none".
    #[getter]
    fn ids(&self) -> PyResult<&'static str> {
        Ok(self.0.get()?.parameters().ids().name())
    }

    /// What made the fingerprints, if the store records it.
    #[getter]
    fn hasher(&self) -> PyResult<Option<String>> {
        Ok(self.0.get()?.parameters().hasher().map(str::to_owned))
    }

    /// The name of the design of the tables.
    #[getter]
    fn plan(&self) -> PyResult<String> {
        Ok(self.0.get()?.parameters().design().to_string())
    }

    /// Whether it is open for reading alone.
    #[getter]
    fn read_only(&self) -> bool {
        self.0.is_read_only()
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(usize::try_from(self.0.statistics(py)?.records).unwrap_or(usize::MAX))
    }

    /// True, also for an empty store.
    fn __bool__(&self) -> bool {
        true
    }

    /// Adds many records, all or nothing, beyond memory if need be; records that are there already are counted. Returns
    /// a dictionary: `records`, `added`, `removed`, and `nulls`, the records without a fingerprint, which are left out.
    ///
    /// `records` is a column of fingerprints, or a table with `fingerprint_column` and, unless `ids` are given,
    /// `id_column`, or "id" if there is such a column. `progress` is True for a bar of tqdm, or a function that is called with the number of records read.
    /// Ctrl-C leaves the store as it was.
    #[pyo3(signature = (records, ids=None, *, fingerprint_column="fingerprint", id_column=None, progress=None))]
    fn load<'py>(
        &self,
        py: Python<'py>,
        records: &Bound<'py, PyAny>,
        ids: Option<&Bound<'py, PyAny>>,
        fingerprint_column: &str,
        id_column: Option<&str>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.bulk(py, Deed::Add, records, ids, (fingerprint_column, id_column), progress)
    }

    /// Adds many records, and removes other fingerprints of the same ids. The store needs an id index. As `load`.
    #[pyo3(signature = (records, ids=None, *, fingerprint_column="fingerprint", id_column=None, progress=None))]
    fn load_replace<'py>(
        &self,
        py: Python<'py>,
        records: &Bound<'py, PyAny>,
        ids: Option<&Bound<'py, PyAny>>,
        fingerprint_column: &str,
        id_column: Option<&str>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.bulk(py, Deed::Replace, records, ids, (fingerprint_column, id_column), progress)
    }

    /// Removes many records, all or nothing. As `load`.
    #[pyo3(signature = (records, ids=None, *, fingerprint_column="fingerprint", id_column=None, progress=None))]
    fn load_remove<'py>(
        &self,
        py: Python<'py>,
        records: &Bound<'py, PyAny>,
        ids: Option<&Bound<'py, PyAny>>,
        fingerprint_column: &str,
        id_column: Option<&str>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.bulk(py, Deed::Remove, records, ids, (fingerprint_column, id_column), progress)
    }

    /// Removes all records of many ids, all or nothing; returns their number. The store needs an id index if it is large.
    fn remove_ids(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<u64> {
        remove_ids(py, &self.0, ids)
    }

    /// Adds a record, or all records of two columns at once. `durability` says what the write survives when the call
    /// returns: "sync" a power failure, "buffered" the end of the process, "sync-all" as sync, with the file's metadata.
    #[pyo3(signature = (fingerprint, id=None, *, durability="sync"))]
    fn insert(
        &self,
        py: Python<'_>,
        fingerprint: &Bound<'_, PyAny>,
        id: Option<&Bound<'_, PyAny>>,
        durability: &str,
    ) -> PyResult<()> {
        let (handle, durability) = (self.0.get()?, durability_of(durability)?);
        if let Some(one) = single(fingerprint, Self::width_of(&handle))? {
            let id: Option<GivenId> = id.map(|id| id.extract()).transpose()?;
            return within(py, &handle, |store| store.insert(one, id_of(id.as_ref()), durability));
        }
        let (column, ids) = columns(&handle, fingerprint, id)?;
        let work = move |stop: &Stop| fpstore_bindings::insert(&handle, &column, ids.as_ref(), durability, stop);
        call::run(py, work).map(drop)
    }

    /// Adds a record unless there is one within distance `k`. Returns whether it was added; for columns, a batch with
    /// `inserted`, `number`, and where a record was not added `id` and `distance` of the same record, or of the nearest
    /// with another id.
    #[pyo3(signature = (fingerprint, id=None, *, ids=None, k=None, durability="sync"))]
    fn insert_if_new<'py>(
        &self,
        py: Python<'py>,
        fingerprint: &Bound<'py, PyAny>,
        id: Option<&Bound<'py, PyAny>>,
        ids: Option<&Bound<'py, PyAny>>,
        k: Option<u32>,
        durability: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (handle, durability) = (self.0.get()?, durability_of(durability)?);
        let (id, k) = (id.or(ids), Self::k(&handle, k));
        if let Some(one) = single(fingerprint, Self::width_of(&handle))? {
            let id: Option<GivenId> = id.map(|id| id.extract()).transpose()?;
            let outcome = within(py, &handle, |store| store.insert_if_new(one, id_of(id.as_ref()), k, durability))?;
            return outcome.inserted.into_bound_py_any(py);
        }
        let (column, ids) = columns(&handle, fingerprint, id)?;
        let work =
            move |stop: &Stop| fpstore_bindings::insert_if_new(&handle, &column, ids.as_ref(), k, durability, stop);
        PyBatch::new(call::run(py, work)?).into_bound_py_any(py)
    }

    /// Removes a record, or all records of two columns at once; returns how many there were.
    #[pyo3(signature = (fingerprint, id=None, *, durability="sync"))]
    fn remove(
        &self,
        py: Python<'_>,
        fingerprint: &Bound<'_, PyAny>,
        id: Option<&Bound<'_, PyAny>>,
        durability: &str,
    ) -> PyResult<u64> {
        let (handle, durability) = (self.0.get()?, durability_of(durability)?);
        if let Some(one) = single(fingerprint, Self::width_of(&handle))? {
            let id: Option<GivenId> = id.map(|id| id.extract()).transpose()?;
            return within(py, &handle, |store| store.remove(one, id_of(id.as_ref()), durability)).map(u64::from);
        }
        let (column, ids) = columns(&handle, fingerprint, id)?;
        let work = move |stop: &Stop| fpstore_bindings::remove(&handle, &column, ids.as_ref(), durability, stop);
        call::run(py, work)
    }

    /// Removes all records of an id, and returns their number. The store needs an id index.
    #[pyo3(signature = (id, *, durability="sync"))]
    fn remove_id(&self, py: Python<'_>, id: GivenId, durability: &str) -> PyResult<u64> {
        let durability = durability_of(durability)?;
        self.with(py, |store| store.remove_id(id.as_ref(), durability))
    }

    /// Gives an id this fingerprint alone, and returns how many records of the id were removed. The store needs an id
    /// index.
    #[pyo3(signature = (fingerprint, id, *, durability="sync"))]
    fn replace(&self, py: Python<'_>, fingerprint: &Bound<'_, PyAny>, id: GivenId, durability: &str) -> PyResult<u64> {
        let durability = durability_of(durability)?;
        let one = one(fingerprint, self.width()?)?;
        self.with(py, |store| store.replace(one, id.as_ref(), durability))
    }

    /// All records within distance `k`, by distance, then fingerprint, then id. Of one fingerprint a list of `Match`; of
    /// many a stream with `query_row`, `fingerprint`, `distance` and `id`.
    #[pyo3(signature = (fingerprint, k=None))]
    fn query<'py>(
        &self,
        py: Python<'py>,
        fingerprint: &Bound<'py, PyAny>,
        k: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.0.get()?;
        let Some(one) = single(fingerprint, Self::width_of(&handle))? else {
            return self.asked()?.query_many(fingerprint, k)?.into_bound_py_any(py);
        };
        let most = handle.parameters().max_distance();
        let k = k.unwrap_or(most);
        if k <= most {
            return matches(py, within(py, &handle, |store| store.query(one, k))?);
        }
        // May read the whole store.
        matches(py, call::run(py, move |_| handle.store()?.query(one, k))?)
    }

    /// The `count` nearest records, at any distance or up to `k`; a list or a stream as of `query`.
    #[pyo3(signature = (fingerprint, count=10, *, k=None))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        fingerprint: &Bound<'py, PyAny>,
        count: usize,
        k: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.0.get()?;
        let Some(one) = single(fingerprint, Self::width_of(&handle))? else {
            return self.asked()?.nearest_many(fingerprint, count, k)?.into_bound_py_any(py);
        };
        let mut found = call::run(py, move |_| handle.store()?.nearest(one, count))?;
        found.retain(|found| k.is_none_or(|k| found.distance <= k));
        matches(py, found)
    }

    /// Whether there is a record within distance `k`: True or False, of many an array of them.
    #[pyo3(signature = (fingerprint, k=None))]
    fn contains_near(&self, py: Python<'_>, fingerprint: &Bound<'_, PyAny>, k: Option<u32>) -> PyResult<Py<PyAny>> {
        let handle = self.0.get()?;
        let Some(one) = single(fingerprint, Self::width_of(&handle))? else {
            return self.asked()?.contains_many(fingerprint, k);
        };
        let k = Self::k(&handle, k);
        within(py, &handle, |store| store.contains_near(one, k))?.is_some().into_py_any(py)
    }

    fn __contains__(&self, py: Python<'_>, fingerprint: &Bound<'_, PyAny>) -> PyResult<bool> {
        let one = one(fingerprint, self.width()?)?;
        Ok(!self.with(py, |store| store.get(one))?.is_empty())
    }

    /// The ids of a fingerprint.
    fn get<'py>(&self, py: Python<'py>, fingerprint: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let one = one(fingerprint, self.width()?)?;
        self.with(py, |store| store.get(one))?.iter().map(|id| id_to_py(py, id)).collect()
    }

    /// The fingerprints of an id. The store needs an id index.
    fn get_id<'py>(&self, py: Python<'py>, id: GivenId) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let found: Vec<AnyFingerprint> = self.with(py, |store| store.get_id(id.as_ref()))?;
        found.into_iter().map(|one| to_int(py, one)).collect()
    }

    /// All records by fingerprint, then id.
    fn records(&self) -> PyResult<PyAnswers> {
        crate::jobs::answers(fpstore_bindings::records(&self.asked()?.snapshot))
    }

    /// All pairs of records within distance `k`, each once: `id_a`, `id_b`, `distance`, `fp_a`, `fp_b`; without ids
    /// `count_a` and `count_b`.
    #[pyo3(signature = (k=None, *, memory=None, tmp_dir=None))]
    fn pairs(&self, k: Option<u32>, memory: Option<Size>, tmp_dir: Option<PathBuf>) -> PyResult<PyAnswers> {
        self.asked()?.pairs(k, memory.as_ref(), tmp_dir)
    }

    /// All pairs of a record of this store and one of another. Columns as of `pairs`.
    #[pyo3(signature = (other, k=None, *, memory=None, tmp_dir=None))]
    fn join(
        &self,
        other: &Self,
        k: Option<u32>,
        memory: Option<Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        self.asked()?.join(&other.asked()?.snapshot, k, memory.as_ref(), tmp_dir)
    }

    /// The cluster of every record: `id` and `cluster`, its smallest id. `linkage` is "single", "star" or "complete".
    /// `keep` says which record comes first: "smallest", "largest", or a column of ids, the most important one first.
    #[pyo3(signature = (k=None, *, linkage="single", keep=None, memory=None, tmp_dir=None))]
    fn clusters(
        &self,
        k: Option<u32>,
        linkage: &str,
        keep: Option<&Bound<'_, PyAny>>,
        memory: Option<Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        self.asked()?.clusters(k, linkage, keep, memory.as_ref(), tmp_dir)
    }

    /// The ids of the records that are kept, one of each cluster; with evidence=True a row for each of the others: `id`,
    /// `keeper`, `cluster` and `distance`. Kept and removed together are all records. `keep` as of `clusters`.
    #[pyo3(signature = (k=None, *, linkage="star", evidence=false, keep=None, memory=None, tmp_dir=None))]
    fn keep(
        &self,
        k: Option<u32>,
        linkage: &str,
        evidence: bool,
        keep: Option<&Bound<'_, PyAny>>,
        memory: Option<Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        self.asked()?.keep(k, linkage, evidence, keep, memory.as_ref(), tmp_dir)
    }

    /// The store as it is now. Later writes do not change the snapshot.
    fn snapshot(&self) -> PyResult<PySnapshot> {
        Ok(PySnapshot::new(self.asked()?))
    }

    /// Sizes and counts, a dictionary with the fields of `fpdump stats --json`.
    fn stats(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        reports::statistics(py, &self.0.statistics(py)?)
    }

    /// Verifies every byte. As `fpstore.verify`.
    fn verify(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let handle = self.0.get()?;
        reports::verified(py, &call::run(py, move |_| handle.store()?.verify())?)
    }

    /// Copies the present state to a new directory and verifies the copy; the number of its records. With
    /// hard_links=True, files are shared where the file system can do that.
    #[pyo3(signature = (path, *, hard_links=false))]
    fn backup(&self, py: Python<'_>, path: PathBuf, hard_links: bool) -> PyResult<u64> {
        let handle = self.0.get()?;
        call::run(py, move |_| handle.store()?.backup(path, backup_mode(hard_links))).map(|report| report.records)
    }

    /// Merges all runs to one. False if there was nothing to merge.
    fn compact(&self, py: Python<'_>) -> PyResult<bool> {
        let handle = self.0.get()?;
        call::change(py, &handle, |_| Ok(()), |handle| handle.store()?.compact())
    }

    /// Writes of one durability, for a `with` block that ends with a sync.
    #[pyo3(signature = (durability="sync"))]
    fn writer<'py>(this: Bound<'py, Self>, durability: &str) -> PyResult<Bound<'py, PyAny>> {
        durability_of(durability)?;
        this.py().import("fpstore._writer")?.call_method1("Writer", (this, durability))
    }

    /// Makes earlier writes durable.
    #[pyo3(signature = (durability="sync"))]
    fn sync(&self, py: Python<'_>, durability: &str) -> PyResult<()> {
        let durability = durability_of(durability)?;
        self.with(py, |store| store.sync(durability))
    }

    /// Moves a store that is open for reading on to the latest state; whether there was one.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, fpstore::AnyStore::refresh)
    }

    /// Closes the store and reports errors. Later calls raise InvalidInputError.
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PathBuf,))> {
        self.0.reduce(py)
    }

    fn __repr__(&self) -> String {
        self.0.shown("Store")
    }
}

/// Works with the store of a handle without the lock of the interpreter.
fn within<T: Send>(
    py: Python<'_>,
    handle: &Handle,
    work: impl FnOnce(&fpstore::AnyStore) -> fpstore::Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| work(handle.store()?)).map_err(of_store)
}
