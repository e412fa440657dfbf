//! Clusters of vertices, for the stages.

use pyo3::prelude::*;

use crate::arguments;
use crate::array::PyArray;
use crate::source::Source;
use crate::{call, given};

/// The keeper of each vertex from 0 to `count` - 1, an array of uint32, given two columns with all pairs of near
/// vertices. Smaller numbers are kept first. `linkage` as of `Store.clusters`.
#[pyfunction]
#[pyo3(signature = (count, a, b, *, linkage))]
pub(crate) fn linked(
    py: Python<'_>,
    count: u32,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = given::linkage)] linkage: &str,
) -> PyResult<PyArray> {
    let linkage = arguments::linkage(linkage)?;
    let (a, b) = (Source::of("a", a)?.whole(py)?, Source::of("b", b)?.whole(py)?);
    call::run(py, move |_| fpstore_bindings::linked(linkage, count, &a, &b)).map(PyArray::new)
}
