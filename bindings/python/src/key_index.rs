//! A key index.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fpstore::keys::{KeyMatch, KeyQuery, KeyRule};
use fpstore_bindings::{Deed, Handle, Loaded};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::answers::PyAnswers;
use crate::arguments::{Size, cluster_options, pair_options};
use crate::errors::of_store;
use crate::jobs::{answers, check_hasher, kept};
use crate::opened::{Opened, backup_mode, bar, remove_ids, report, told};
use crate::scalar::id_to_py;
use crate::source::{Source, Together};
use crate::{call, reports};

/// An index of records with several keys each, such as MinHash bands: made by `fpstore.create(kind="keys")`, or opened
/// by `fpstore.open`.
///
/// Keys are integers of 64 bits; those of bytes and strings are their XXH64. A column of keys has a list for each record.
/// A sketch, if the index has them, is bytes; `fpstore.bands(..., sketch=BITS)` makes both.
///
/// >>> import fpstore as fp, tempfile
/// >>> index = fp.create(tempfile.mkdtemp() + "/index", kind="keys")
/// >>> index.load([[1 << 60, 2 << 60], [2 << 60, 3 << 60]], ids=[7, 8])["added"]
/// 2
/// >>> index.query([2 << 60, 3 << 60])
/// [KeyMatch(id=8, shared=2, jaccard=None), KeyMatch(id=7, shared=1, jaccard=None)]
#[pyclass(frozen, name = "KeyIndex", module = "fpstore")]
pub(crate) struct PyKeyIndex(Opened);

/// A record that shares keys with a query: its id, how many keys they share, and the Jaccard similarity that their
/// sketches estimate, or None.
#[pyclass(frozen, name = "KeyMatch", module = "fpstore", eq)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PyKeyMatch(KeyMatch);

#[pymethods]
impl PyKeyMatch {
    /// The id.
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        id_to_py(py, &self.0.id)
    }

    /// Number of keys that both have.
    #[getter]
    fn shared(&self) -> u64 {
        self.0.shared
    }

    /// The estimated Jaccard similarity, or None.
    #[getter]
    fn jaccard(&self) -> Option<f64> {
        self.0.jaccard
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (self.id(py)?, self.shared(), self.jaccard()).into_pyobject(py)?.call_method0("__iter__")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let id = self.id(py)?.repr()?.to_string();
        let jaccard = self.0.jaccard.map_or_else(|| "None".to_owned(), |jaccard| format!("{jaccard:?}"));
        Ok(format!("KeyMatch(id={id}, shared={}, jaccard={jaccard})", self.0.shared))
    }
}

/// Columns of a load.
struct Columns<'a, 'py> {
    records: &'a Bound<'py, PyAny>,
    ids: Option<&'a Bound<'py, PyAny>>,
    sketches: Option<&'a Bound<'py, PyAny>>,
    names: (String, Option<String>, Option<String>),
}

impl PyKeyIndex {
    pub(crate) fn new(handle: Handle) -> Self {
        Self(Opened::new(handle))
    }

    fn bulk(
        &self,
        py: Python<'_>,
        deed: Deed,
        columns: Columns<'_, '_>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Loaded> {
        let handle = self.0.get()?;
        let source = Source::of(columns.records)?;
        check_hasher(&source, handle.parameters().hasher())?;
        let is_table = source.is_table();
        let [ids, sketches] = [columns.ids, columns.sketches].map(|column| column.map(Source::of).transpose());
        let names = columns.names;
        let together = vec![("records", Some(source)), ("ids", ids?), ("sketches", sketches?)];
        let pieces = Together::new(together).map(move |piece| {
            let mut piece = piece?.into_iter();
            let mut next = || piece.next().flatten();
            let (records, ids, sketches) = (next(), next(), next());
            let records = records.ok_or_else(|| fpstore_bindings::input::invalid("there are no records"))?;
            if !is_table {
                return Ok((records, ids, sketches));
            }
            let (keys, id, sketch) = &names;
            let own_ids = Source::named(&records, id.as_deref(), "id")?;
            let own_sketches = Source::named(&records, sketch.as_deref(), "sketch")?;
            Ok((Source::column(&records, keys)?, ids.or(own_ids), sketches.or(own_sketches)))
        });
        let seen = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&seen);
        let work = move |handle: &Handle| {
            fpstore_bindings::key_load(handle, deed, pieces, |records| {
                counted.store(records, Relaxed);
                Ok(())
            })
        };
        call::change(py, &handle, told(progress, &seen), work)
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&fpstore::KeyIndex) -> fpstore::Result<T> + Send,
    ) -> PyResult<T> {
        let handle = self.0.get()?;
        py.detach(|| work(handle.keys()?)).map_err(of_store)
    }
}

/// The rule of pairs.
fn rule(min_shared: u64, min_jaccard: Option<f64>, max_key_frequency: Option<u64>) -> KeyRule {
    let mut rule = KeyRule::new().with_min_shared(min_shared).with_min_jaccard(min_jaccard.unwrap_or(0.0));
    if let Some(most) = max_key_frequency {
        rule = rule.with_max_key_frequency(most);
    }
    rule
}

#[pymethods]
impl PyKeyIndex {
    /// The directory.
    #[getter]
    fn path(&self) -> &PathBuf {
        self.0.path()
    }

    /// "u64" or "text".
    #[getter]
    fn ids(&self) -> PyResult<&'static str> {
        Ok(self.0.get()?.parameters().ids().name())
    }

    /// What made the keys, if the index records it.
    #[getter]
    fn hasher(&self) -> PyResult<Option<String>> {
        Ok(self.0.get()?.parameters().hasher().map(str::to_owned))
    }

    /// Bits of a stored key.
    #[getter]
    fn key_bits(&self) -> PyResult<u8> {
        Ok(self.0.get()?.parameters().keys().unwrap_or_default().key_bits())
    }

    /// Bits of a sketch; 0 without sketches.
    #[getter]
    fn sketch_bits(&self) -> PyResult<u16> {
        Ok(self.0.get()?.parameters().keys().unwrap_or_default().sketch_bits())
    }

    /// Whether it is open for reading alone.
    #[getter]
    fn read_only(&self) -> bool {
        self.0.is_read_only()
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(usize::try_from(self.0.statistics(py)?.records).unwrap_or(usize::MAX))
    }

    /// True, also for an empty index.
    fn __bool__(&self) -> bool {
        true
    }

    /// Adds many records, all or nothing, beyond memory if need be; records whose id is there already are left out.
    /// `records` is a column of lists of keys, or a table with the named columns. As `Store.load`.
    #[pyo3(signature = (
        records, ids=None, sketches=None, *, replace=false, keys_column="keys", id_column=None, sketch_column=None,
        progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn load<'py>(
        &self,
        py: Python<'py>,
        records: &Bound<'py, PyAny>,
        ids: Option<&Bound<'py, PyAny>>,
        sketches: Option<&Bound<'py, PyAny>>,
        replace: bool,
        keys_column: &str,
        id_column: Option<&str>,
        sketch_column: Option<&str>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let deed = if replace { Deed::Replace } else { Deed::Add };
        let [id_column, sketch_column] = [id_column, sketch_column].map(|name| name.map(str::to_owned));
        let names = (keys_column.to_owned(), id_column, sketch_column);
        let columns = Columns { records, ids, sketches, names };
        bar(py, progress, "records", |progress| report(py, self.bulk(py, deed, columns, progress)?))
    }

    /// Removes the records of many ids, all or nothing; returns their number.
    fn remove_ids(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<u64> {
        remove_ids(py, &self.0, ids)
    }

    /// The records that share keys, those that share most first. Of one list of keys, a list of `KeyMatch`; of a column
    /// of lists a stream with `query_row`, `id`, `shared` and `jaccard`.
    #[pyo3(signature = (keys, sketches=None, *, min_shared=1, min_jaccard=None, nearest=None))]
    fn query<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        sketches: Option<&Bound<'py, PyAny>>,
        min_shared: u64,
        min_jaccard: Option<f64>,
        nearest: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut how = KeyQuery::new().with_min_shared(min_shared).with_min_jaccard(min_jaccard.unwrap_or(0.0));
        if let Some(nearest) = nearest {
            how = how.with_nearest(nearest);
        }
        if (keys.is_instance_of::<PyList>() || keys.is_instance_of::<PyTuple>())
            && let Ok(keys) = keys.extract::<Vec<u64>>()
        {
            let sketch: Vec<u8> = sketches.map(|sketch| sketch.extract()).transpose()?.unwrap_or_default();
            let found = self.with(py, |index| index.query(&keys, &sketch, &how))?;
            return PyList::new(py, found.into_iter().map(PyKeyMatch)).map(Bound::into_any);
        }
        let handle = self.0.get()?;
        let source = Source::of(keys)?;
        check_hasher(&source, handle.parameters().hasher())?;
        let sketches = sketches.map(|sketches| Source::of(sketches)?.whole(py)).transpose()?;
        let column = source.whole(py)?;
        answers(fpstore_bindings::key_queries(&handle, &column, sketches.as_ref(), how))?.into_bound_py_any(py)
    }

    /// All pairs of records that share keys, each once: `id_a`, `id_b`, `shared`, `jaccard`. Keys of more records than
    /// `max_key_frequency` do not count.
    #[pyo3(signature = (*, min_shared=1, min_jaccard=None, max_key_frequency=None, memory=None, tmp_dir=None))]
    fn pairs(
        &self,
        min_shared: u64,
        min_jaccard: Option<f64>,
        max_key_frequency: Option<u64>,
        memory: Option<Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        let (handle, options) = (self.0.get()?, pair_options(memory.as_ref(), tmp_dir)?);
        let rule = rule(min_shared, min_jaccard, max_key_frequency);
        answers(fpstore_bindings::key_pairs(&handle, None, rule, &options))
    }

    /// All pairs of a record of this index and one of another that share keys. As `pairs`.
    #[pyo3(signature = (other, *, min_shared=1, min_jaccard=None, max_key_frequency=None, memory=None, tmp_dir=None))]
    fn join(
        &self,
        other: &Self,
        min_shared: u64,
        min_jaccard: Option<f64>,
        max_key_frequency: Option<u64>,
        memory: Option<Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        let (handle, options) = (self.0.get()?, pair_options(memory.as_ref(), tmp_dir)?);
        let (other, rule) = (other.0.get()?, rule(min_shared, min_jaccard, max_key_frequency));
        answers(fpstore_bindings::key_pairs(&handle, Some(&other), rule, &options))
    }

    /// The cluster of every record. As `Store.clusters`, with the rule of `pairs`.
    #[pyo3(signature = (
        *, linkage="single", keep=None, min_shared=1, min_jaccard=None, max_key_frequency=None, memory=None, tmp_dir=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn clusters(
        &self,
        linkage: &str,
        keep: Option<&Bound<'_, PyAny>>,
        min_shared: u64,
        min_jaccard: Option<f64>,
        max_key_frequency: Option<u64>,
        memory: Option<Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        let (handle, options) = (self.0.get()?, cluster_options(linkage, keep, memory.as_ref(), tmp_dir)?);
        answers(fpstore_bindings::key_clusters(&handle, rule(min_shared, min_jaccard, max_key_frequency), &options))
    }

    /// The ids of the records that are kept; with evidence=True the others: `id`, `keeper`, `cluster`, `shared_keys`,
    /// `jaccard`. As `Store.keep`, with the rule of `pairs`.
    #[pyo3(signature = (
        *, linkage="star", evidence=false, keep=None, min_shared=1, min_jaccard=None, max_key_frequency=None,
        memory=None, tmp_dir=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn keep(
        &self,
        linkage: &str,
        evidence: bool,
        keep: Option<&Bound<'_, PyAny>>,
        min_shared: u64,
        min_jaccard: Option<f64>,
        max_key_frequency: Option<u64>,
        memory: Option<Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        let (handle, options) = (self.0.get()?, cluster_options(linkage, keep, memory.as_ref(), tmp_dir)?);
        let rule = rule(min_shared, min_jaccard, max_key_frequency);
        answers(fpstore_bindings::key_keep(&handle, rule, kept(evidence), &options))
    }

    /// Sizes and counts, a dictionary with the fields of `fpdump stats --json`.
    fn stats(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        reports::statistics(py, &self.0.statistics(py)?)
    }

    /// Copies the present state to a new directory and verifies the copy; the number of its records.
    #[pyo3(signature = (path, *, hard_links=false))]
    fn backup(&self, py: Python<'_>, path: PathBuf, hard_links: bool) -> PyResult<u64> {
        let handle = self.0.get()?;
        call::run(py, move |_| handle.keys()?.backup(path, backup_mode(hard_links))).map(|report| report.records)
    }

    /// Merges all runs to one. False if there was nothing to merge.
    fn compact(&self, py: Python<'_>) -> PyResult<bool> {
        let handle = self.0.get()?;
        call::change(py, &handle, |_| Ok(()), |handle| handle.keys()?.compact())
    }

    /// Moves an index that is open for reading on to the latest state; whether there was one.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, fpstore::KeyIndex::refresh)
    }

    /// Closes the index and reports errors.
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
        self.0.shown("KeyIndex")
    }
}
