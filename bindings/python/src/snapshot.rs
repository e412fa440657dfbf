//! A store of fingerprints as it was at one moment.

use std::path::PathBuf;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::answers::PyAnswers;
use crate::arguments::Size;
use crate::jobs::{Asked, answers};
use crate::reports;

/// A store as it was at one moment: `Store.snapshot()`. It has all earlier writes and no later ones.
///
/// Its questions are those of a store, for columns of fingerprints.
///
/// >>> import fpstore as fp, tempfile
/// >>> store = fp.create(tempfile.mkdtemp() + "/store")
/// >>> store.insert(7, 1)
/// >>> before = store.snapshot()
/// >>> store.insert(6, 2)
/// >>> before.query([7], k=3).to_pydict()["id"]
/// [1]
#[pyclass(frozen, name = "Snapshot", module = "fpstore")]
pub(crate) struct PySnapshot(Asked);

impl PySnapshot {
    pub(crate) fn new(asked: Asked) -> Self {
        Self(asked)
    }
}

#[pymethods]
impl PySnapshot {
    fn __len__(&self, py: Python<'_>) -> usize {
        let statistics = py.detach(|| self.0.snapshot.statistics());
        usize::try_from(statistics.records).unwrap_or(usize::MAX)
    }

    /// As `Store.query` of a column.
    #[pyo3(signature = (fingerprints, k=None))]
    fn query(&self, fingerprints: &Bound<'_, PyAny>, k: Option<u32>) -> PyResult<PyAnswers> {
        self.0.query_many(fingerprints, k)
    }

    /// As `Store.nearest` of a column.
    #[pyo3(signature = (fingerprints, count=10, *, k=None))]
    fn nearest(&self, fingerprints: &Bound<'_, PyAny>, count: usize, k: Option<u32>) -> PyResult<PyAnswers> {
        self.0.nearest_many(fingerprints, count, k)
    }

    /// As `Store.contains_near` of a column.
    #[pyo3(signature = (fingerprints, k=None))]
    fn contains_near(&self, fingerprints: &Bound<'_, PyAny>, k: Option<u32>) -> PyResult<Py<PyAny>> {
        self.0.contains_many(fingerprints, k)
    }

    /// As `Store.records`.
    fn records(&self) -> PyResult<PyAnswers> {
        answers(fpstore_bindings::records(&self.0.snapshot))
    }

    /// As `Store.pairs`.
    #[pyo3(signature = (k=None, *, memory=None, tmp_dir=None))]
    fn pairs(&self, k: Option<u32>, memory: Option<Size>, tmp_dir: Option<PathBuf>) -> PyResult<PyAnswers> {
        self.0.pairs(k, memory.as_ref(), tmp_dir)
    }

    /// As `Store.join`, with another snapshot.
    #[pyo3(signature = (other, k=None, *, memory=None, tmp_dir=None))]
    fn join(
        &self,
        other: &Self,
        k: Option<u32>,
        memory: Option<Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        self.0.join(&other.0.snapshot, k, memory.as_ref(), tmp_dir)
    }

    /// As `Store.clusters`.
    #[pyo3(signature = (k=None, *, linkage="single", keep=None, memory=None, tmp_dir=None))]
    fn clusters(
        &self,
        k: Option<u32>,
        linkage: &str,
        keep: Option<&Bound<'_, PyAny>>,
        memory: Option<Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        self.0.clusters(k, linkage, keep, memory.as_ref(), tmp_dir)
    }

    /// As `Store.keep`.
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
        self.0.keep(k, linkage, evidence, keep, memory.as_ref(), tmp_dir)
    }

    /// As `Store.stats`.
    fn stats(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let statistics = py.detach(|| self.0.snapshot.statistics());
        reports::statistics(py, &statistics)?.into_py_any(py)
    }
}
