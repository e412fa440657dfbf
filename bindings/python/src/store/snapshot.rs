//! A store of fingerprints as it was at one moment.

use pyo3::prelude::*;

use super::asked::Asked;
use crate::base::{PyBaseSnapshot, State};
use crate::given;
use crate::process::OfProcess;

/// A store as it was at one moment: `Store.snapshot()`. It has all earlier writes and no later ones.
///
/// Its questions are those of a store.
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
    /// Bits of a fingerprint: 64, 128 or 256.
    ///
    /// >>> before.width
    /// 64
    #[getter]
    fn width(&self) -> PyResult<u32> {
        Ok(self.asked()?.width())
    }

    /// The distance in bits for which the store is made.
    ///
    /// >>> before.max_distance
    /// 3
    #[getter]
    fn max_distance(&self) -> PyResult<u32> {
        Ok(self.asked()?.k(None))
    }

    /// The records within distance `k`, in bits, of a fingerprint, or of each of a column. As `Store.query`.
    ///
    /// >>> before.query(0b0001, k=1), before.query([2**32 - 1, 0], k=2).to_pydict()["id"]
    /// ([Match(distance=1, fingerprint=0x0000000000000000, id=10)], [10])
    #[pyo3(signature = (fingerprint, k=None))]
    fn query<'py>(
        &self,
        fingerprint: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.asked()?.query(fingerprint, k)
    }

    /// The `count` nearest records of a fingerprint, or of each of a column. As `Store.nearest`.
    ///
    /// >>> before.nearest(2**32 - 1, 1)[0].id, before.nearest([2**32 - 1], 1).to_pydict()["id"]
    /// (11, [11])
    #[pyo3(signature = (fingerprint, count=10, *, k=None))]
    fn nearest<'py>(
        &self,
        fingerprint: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = given::count)] count: usize,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.asked()?.nearest(fingerprint, count, k)
    }

    /// Whether there is a record within distance `k`, in bits: True or False, of a column an array of bool. As
    /// `Store.contains_near`.
    ///
    /// >>> before.contains_near(0, k=0), before.contains_near([2**32 - 1, 0], k=0).to_pylist()
    /// (True, [False, True])
    #[pyo3(signature = (fingerprint, k=None))]
    fn contains_near(
        &self,
        fingerprint: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<Py<PyAny>> {
        self.asked()?.contains_near(fingerprint, k)
    }
}
