//! Values as the calls that make them again, for pickle and copy. Arrow is in the bytes of its streams.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema};
use arrow_select::concat::concat_batches;
use fpstore::keys::KeyMatch;
use fpstore::{AnyFingerprint, Id, Match};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::PyArray;
use crate::batch::PyBatch;
use crate::errors::{of_arrow, of_store};
use crate::key_index::PyKeyMatch;
use crate::scalar::{GivenId, PyMatch};
use crate::table::PyTable;

/// What `__reduce__` returns: a function of this module and its arguments.
pub(crate) fn as_call<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    function: &str,
    arguments: T,
) -> PyResult<Bound<'py, PyAny>> {
    (py.import("fpstore._native")?.getattr(function)?, arguments).into_bound_py_any(py)
}

/// Batches as bytes.
pub(crate) fn bytes<'py>(py: Python<'py>, schema: &Schema, batches: &[RecordBatch]) -> PyResult<Bound<'py, PyBytes>> {
    let written = py.detach(|| -> Result<Vec<u8>, ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.into_inner()
    });
    written.map(|bytes| PyBytes::new(py, &bytes)).map_err(of_arrow)
}

/// An array as bytes.
pub(crate) fn array_bytes<'py>(py: Python<'py>, array: &PyArray) -> PyResult<Bound<'py, PyBytes>> {
    let schema = Arc::new(Schema::new(vec![Field::new("", array.array.data_type().clone(), true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(&array.array)]).map_err(of_arrow)?;
    bytes(py, &schema, &[batch])
}

/// The batches of bytes.
fn read(py: Python<'_>, bytes: &[u8]) -> PyResult<PyTable> {
    py.detach(|| {
        let reader = StreamReader::try_new(bytes, None)?;
        Ok(PyTable { schema: reader.schema(), batches: reader.collect::<Result<_, ArrowError>>()? })
    })
    .map_err(of_arrow)
}

/// The one batch of bytes.
fn read_one(py: Python<'_>, bytes: &[u8]) -> PyResult<RecordBatch> {
    let PyTable { schema, batches } = read(py, bytes)?;
    concat_batches(&schema, &batches).map_err(of_arrow)
}

#[pyfunction]
#[pyo3(name = "_table")]
pub(crate) fn table(py: Python<'_>, bytes: &[u8]) -> PyResult<PyTable> {
    read(py, bytes)
}

#[pyfunction]
#[pyo3(name = "_batch", signature = (bytes, hasher, sample_bits))]
pub(crate) fn batch(
    py: Python<'_>,
    bytes: &[u8],
    hasher: Option<String>,
    sample_bits: Option<u8>,
) -> PyResult<PyBatch> {
    Ok(PyBatch { batch: read_one(py, bytes)?, hasher, sample_bits })
}

#[pyfunction]
#[pyo3(name = "_array", signature = (bytes, hasher))]
pub(crate) fn array(py: Python<'_>, bytes: &[u8], hasher: Option<String>) -> PyResult<PyArray> {
    let array = Arc::clone(read_one(py, bytes)?.column(0));
    Ok(PyArray { array, hasher })
}

#[pyfunction]
#[pyo3(name = "_match")]
pub(crate) fn matched(distance: u32, fingerprint: &[u8], id: GivenId, is_count: bool) -> PyResult<PyMatch> {
    let id = match (id, is_count) {
        (GivenId::Number(count), true) => Id::Count(count),
        (id, _) => id.into(),
    };
    let fingerprint = AnyFingerprint::from_be_bytes(fingerprint).map_err(of_store)?;
    Ok(Match { fingerprint, distance, id }.into())
}

#[pyfunction]
#[pyo3(name = "_key_match", signature = (id, shared, jaccard))]
pub(crate) fn key_matched(id: GivenId, shared: u64, jaccard: Option<f64>) -> PyKeyMatch {
    PyKeyMatch(KeyMatch { id: id.into(), shared, jaccard })
}
