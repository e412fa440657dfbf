//! A record that shares keys with a query.

use fpstore::keys::KeyMatch;
use pyo3::prelude::*;

use crate::pickled;
use crate::scalar::{GivenId, id_to_py};

/// A record that shares keys with a query: its id, how many keys they share, and the Jaccard similarity that their
/// sketches estimate, or None. Unpacks as a tuple of these three.
///
/// >>> import fpstore as fp, tempfile
/// >>> index = fp.create(tempfile.mkdtemp() + "/index", kind="keys")
/// >>> index.load([[1 << 60, 2 << 60]], ids=[7])["added"]
/// 1
/// >>> (match,) = index.query([1 << 60])
/// >>> match
/// KeyMatch(id=7, shared=1, jaccard=None)
#[pyclass(frozen, name = "KeyMatch", module = "fpstore", eq)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PyKeyMatch(pub(crate) KeyMatch);

#[pymethods]
impl PyKeyMatch {
    /// The id, an int or a str.
    ///
    /// >>> match.id
    /// 7
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        id_to_py(py, &self.0.id)
    }

    /// Number of keys that both have.
    ///
    /// >>> match.shared
    /// 1
    #[getter]
    fn shared(&self) -> u64 {
        self.0.shared
    }

    /// The estimated Jaccard similarity, 0 to 1, or None without sketches.
    ///
    /// >>> match.jaccard is None
    /// True
    #[getter]
    fn jaccard(&self) -> Option<f64> {
        self.0.jaccard
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (self.id(py)?, self.shared(), self.jaccard()).into_pyobject(py)?.call_method0("__iter__")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        pickled::as_call(py, "_key_match", (self.id(py)?, self.shared(), self.jaccard()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let id = self.id(py)?.repr()?.to_string();
        let jaccard = self.0.jaccard.map_or_else(|| "None".to_owned(), |jaccard| format!("{jaccard:?}"));
        Ok(format!("KeyMatch(id={id}, shared={}, jaccard={jaccard})", self.0.shared))
    }
}

/// A match of its parts, for pickle.
#[pyfunction]
#[pyo3(signature = (id, shared, jaccard))]
pub(crate) fn _key_match(id: GivenId, shared: u64, jaccard: Option<f64>) -> PyKeyMatch {
    PyKeyMatch(KeyMatch { id: id.into(), shared, jaccard })
}
