//! Values as the calls that make them again, for pickle and copy. Arrow is in the bytes of its streams.

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::of_arrow;

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

/// The batches of bytes.
pub(crate) fn batches(py: Python<'_>, bytes: &[u8]) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    py.detach(|| {
        let reader = StreamReader::try_new(bytes, None)?;
        Ok((reader.schema(), reader.collect::<Result<_, ArrowError>>()?))
    })
    .map_err(of_arrow)
}

/// The one batch of bytes.
pub(crate) fn batch(py: Python<'_>, bytes: &[u8]) -> PyResult<RecordBatch> {
    let (schema, batches) = batches(py, bytes)?;
    Ok(batches.into_iter().next().unwrap_or_else(|| RecordBatch::new_empty(schema)))
}
