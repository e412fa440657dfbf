//! A key index as it was at one moment.

use fpstore::keys::KeySnapshot;
use pyo3::prelude::*;

use crate::base::{PyBaseSnapshot, State};
use crate::process::OfProcess;

/// A key index as it was at one moment: `KeyIndex.snapshot()`. It has all earlier loads and no later ones, and answers
/// the questions of an index.
///
/// >>> import fpstore as fp, tempfile
/// >>> index = fp.create(tempfile.mkdtemp() + "/index", kind="keys")
/// >>> index.load([[1 << 60, 2 << 60], [2 << 60, 3 << 60]], ids=[7, 8])["added"]
/// 2
/// >>> before = index.snapshot()
/// >>> index.load([[5 << 60]], ids=[9])["added"]
/// 1
/// >>> len(before), len(index), before.query([5 << 60])
/// (2, 3, [])
#[pyclass(frozen, extends = PyBaseSnapshot, name = "KeySnapshot", module = "fpstore")]
pub(crate) struct PyKeySnapshot(OfProcess<KeySnapshot>);

impl PyKeySnapshot {
    pub(super) fn new(snapshot: KeySnapshot) -> PyClassInitializer<Self> {
        let base = PyBaseSnapshot::new(State::Keys(snapshot.clone()));
        PyClassInitializer::from(base).add_subclass(Self(OfProcess::new(snapshot)))
    }

    pub(super) fn asked(&self) -> PyResult<KeySnapshot> {
        self.0.of_snapshot().cloned()
    }
}

#[pymethods]
impl PyKeySnapshot {
    /// Bits of a stored key.
    ///
    /// >>> before.key_bits
    /// 48
    #[getter]
    fn key_bits(&self) -> PyResult<u8> {
        Ok(self.asked()?.parameters().keys().unwrap_or_default().key_bits())
    }

    /// Bits of a sketch; 0 without sketches.
    ///
    /// >>> before.sketch_bits
    /// 0
    #[getter]
    fn sketch_bits(&self) -> PyResult<u16> {
        Ok(self.asked()?.parameters().keys().unwrap_or_default().sketch_bits())
    }
}
