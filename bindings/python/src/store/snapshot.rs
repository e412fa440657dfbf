//! A store of fingerprints as it was at one moment.

use pyo3::prelude::*;

use super::asked::Asked;
use crate::answers::PyAnswers;
use crate::base::{PyBaseSnapshot, State};
use crate::given;
use crate::process::OfProcess;

/// A store as it was at one moment: `Store.snapshot()`. It has all earlier writes and no later ones.
///
/// Its questions are those of a store, for columns of fingerprints.
///
/// >>> import fpstore as fp, tempfile
/// >>> store = fp.create(tempfile.mkdtemp() + "/store", max_distance=3)
/// >>> store.load([0b0000, 0b0111, 2**64 - 1], ids=[10, 11, 12])["added"]
/// 3
/// >>> before = store.snapshot()
/// >>> store.insert(2**32 - 1, 13)
/// >>> len(before), len(store)
/// (3, 4)
#[pyclass(frozen, extends = PyBaseSnapshot, name = "Snapshot", module = "fpstore")]
pub(crate) struct PySnapshot(OfProcess<Asked>);

impl PySnapshot {
    pub(super) fn new(asked: Asked) -> PyClassInitializer<Self> {
        let base = PyBaseSnapshot::new(State::Fingerprints(asked.snapshot.clone()));
        PyClassInitializer::from(base).add_subclass(Self(OfProcess::new(asked)))
    }

    pub(super) fn asked(&self) -> PyResult<Asked> {
        self.0.of_snapshot().cloned()
    }
}

#[pymethods]
impl PySnapshot {
    /// The records within distance `k`, in bits, of each fingerprint of a column. As `Store.query`.
    ///
    /// >>> before.query([2**32 - 1, 0], k=2).to_pydict()["id"]
    /// [10]
    #[pyo3(signature = (fingerprints, k=None))]
    fn query(
        &self,
        fingerprints: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<PyAnswers> {
        self.asked()?.query_many(fingerprints, k)
    }

    /// The `count` nearest records of each fingerprint of a column. As `Store.nearest`.
    ///
    /// >>> before.nearest([2**32 - 1], 1).to_pydict()["id"]
    /// [11]
    #[pyo3(signature = (fingerprints, count=10, *, k=None))]
    fn nearest(
        &self,
        fingerprints: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = given::count)] count: usize,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<PyAnswers> {
        self.asked()?.nearest_many(fingerprints, count, k)
    }

    /// Whether there is a record within distance `k`, in bits, of each fingerprint of a column: an array of bool.
    ///
    /// >>> before.contains_near([2**32 - 1, 0], k=0).to_pylist()
    /// [False, True]
    #[pyo3(signature = (fingerprints, k=None))]
    fn contains_near(
        &self,
        fingerprints: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<Py<PyAny>> {
        self.asked()?.contains_many(fingerprints, k)
    }
}
