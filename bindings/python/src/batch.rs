//! A record batch.

use arrow_array::{Array, RecordBatch, StructArray};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};

use crate::array::PyArray;
use crate::errors::invalid;
use crate::{capsule, pickled, values};

/// Some rows of an answer: an Arrow record batch, for `pyarrow.record_batch(b)`, `polars.DataFrame(b)` and others.
///
/// >>> import fpstore as fp, tempfile
/// >>> store = fp.create(tempfile.mkdtemp() + "/store")
/// >>> batch = store.insert_if_new([7, 6, 2**64 - 1], [1, 2, 3], k=3)
/// >>> batch
/// <fpstore.Batch of 3 rows: inserted, number, id, distance>
#[pyclass(frozen, name = "Batch", module = "fpstore")]
#[derive(Clone, Debug)]
pub(crate) struct PyBatch {
    pub(crate) batch: RecordBatch,
    pub(crate) hasher: Option<String>,
    pub(crate) sample_bits: Option<u8>,
}

impl PyBatch {
    pub(crate) fn new(batch: RecordBatch) -> Self {
        Self { batch, hasher: None, sample_bits: None }
    }
}

#[pymethods]
impl PyBatch {
    /// What made the keys of `fpstore.bands`; of other batches None.
    ///
    /// >>> fp.bands(["a b c"], bands=4, rows=2, sketch="full").hasher.split("/")[0]
    /// 'minhash'
    #[getter]
    fn hasher(&self) -> Option<&str> {
        self.hasher.as_deref()
    }

    /// Bits of a sample of the sketches of `fpstore.bands`; of other batches None.
    ///
    /// >>> fp.bands(["a b c"], bands=4, rows=2, sketch="full").sample_bits
    /// 8
    #[getter]
    fn sample_bits(&self) -> Option<u8> {
        self.sample_bits
    }

    /// Number of rows.
    ///
    /// >>> batch.num_rows
    /// 3
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Names of the columns.
    ///
    /// >>> batch.column_names
    /// ['inserted', 'number', 'id', 'distance']
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The column of a name.
    fn __getitem__(&self, name: &str) -> PyResult<PyArray> {
        let Some(array) = self.batch.column_by_name(name).cloned() else {
            let names = self.column_names().join(", ");
            return Err(invalid(format!("the batch has no column {name:?}; it has {names}")));
        };
        Ok(PyArray { array, hasher: self.hasher.clone().filter(|_| name == "keys") })
    }

    /// The columns as lists, by their names.
    ///
    /// >>> batch.to_pydict()["inserted"]
    /// [True, False, True]
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            columns.set_item(field.name(), values::all(py, &**column)?)?;
        }
        Ok(columns)
    }

    /// The rows as dictionaries.
    ///
    /// >>> batch.to_pylist()[1]
    /// {'inserted': False, 'number': None, 'id': 1, 'distance': 1}
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let schema = self.batch.schema();
        let rows = PyList::empty(py);
        for row in values::rows(py, self.batch.num_rows()) {
            let (row, one) = (row?, PyDict::new(py));
            for (field, column) in schema.fields().iter().zip(self.batch.columns()) {
                one.set_item(field.name(), values::value(py, &**column, row)?)?;
            }
            rows.append(one)?;
        }
        Ok(rows)
    }

    /// Arrow's capsules of schema and values.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        let columns: &dyn Array = &StructArray::from(self.batch.clone());
        capsule::of_array(py, columns)
    }

    /// Arrow's capsule of the schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_schema(py, &self.batch.schema())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = pickled::bytes(py, &self.batch.schema(), std::slice::from_ref(&self.batch))?;
        pickled::as_call(py, "_batch", (bytes, self.hasher(), self.sample_bits))
    }

    fn __repr__(&self) -> String {
        let columns = self.column_names();
        format!("<fpstore.Batch of {} rows: {}>", self.batch.num_rows(), columns.join(", "))
    }
}

/// A batch of its bytes, for pickle.
#[pyfunction]
#[pyo3(signature = (bytes, hasher, sample_bits))]
pub(crate) fn _batch(
    py: Python<'_>,
    bytes: &[u8],
    hasher: Option<String>,
    sample_bits: Option<u8>,
) -> PyResult<PyBatch> {
    Ok(PyBatch { batch: pickled::batch(py, bytes)?, hasher, sample_bits })
}
