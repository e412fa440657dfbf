//! An Arrow array that may know what made its values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PySlice, PyTuple};

use crate::errors::{invalid, of_arrow};
use crate::{capsule, pickled, values};

/// An Arrow array.
///
/// It takes part in the Arrow PyCapsule interface (`pyarrow.array(a)`, `polars.Series(a)`), in NumPy's
/// (`numpy.asarray(a)`), and behaves as a sequence of Python values.
///
/// >>> import fpstore as fp
/// >>> a = fp.simhash(["a crawler has seen this page", "another page"])
/// >>> len(a), a.type
/// (2, 'uint64')
#[pyclass(frozen, name = "Array", module = "fpstore")]
#[derive(Clone, Debug)]
pub(crate) struct PyArray {
    pub(crate) array: ArrayRef,
    pub(crate) hasher: Option<String>,
}

impl PyArray {
    pub(crate) fn new(array: ArrayRef) -> Self {
        Self { array, hasher: None }
    }
}

#[pymethods]
impl PyArray {
    /// What made the values: preset, version and all parameters. None if that is unknown.
    ///
    /// >>> a.hasher.split("/")[0]
    /// 'simhash'
    #[getter]
    fn hasher(&self) -> Option<&str> {
        self.hasher.as_deref()
    }

    /// The name of the type of its values.
    ///
    /// >>> a.type
    /// 'uint64'
    #[getter]
    fn r#type(&self) -> String {
        self.array.data_type().to_string().to_lowercase()
    }

    /// Bytes of each value of a fixed_size_binary; of other types 0.
    ///
    /// >>> a.width, fp.simhash(["a b c"], width=128).width
    /// (0, 16)
    #[getter]
    fn width(&self) -> i32 {
        if let DataType::FixedSizeBinary(bytes) = self.array.data_type() { *bytes } else { 0 }
    }

    /// Number of nulls.
    ///
    /// >>> a.null_count, fp.simhash(["a b c", None]).null_count
    /// (0, 1)
    #[getter]
    fn null_count(&self) -> usize {
        self.array.logical_null_count()
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, at: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = at.cast::<PySlice>() {
            let length = isize::try_from(self.array.len()).unwrap_or(isize::MAX);
            let indices = slice.indices(length)?;
            if indices.step != 1 {
                return Err(invalid("a slice of an array has no step; use numpy, pyarrow or polars"));
            }
            let first = usize::try_from(indices.start).unwrap_or(0);
            let array = self.array.slice(first.min(self.array.len()), indices.slicelength);
            return Ok(Self { array, hasher: self.hasher.clone() }.into_pyobject(py)?.into_any());
        }
        let at: isize = at.extract()?;
        let row = if at < 0 { self.array.len().checked_add_signed(at) } else { usize::try_from(at).ok() };
        match row.filter(|&row| row < self.array.len()) {
            Some(row) => values::value(py, &*self.array, row),
            None => Err(PyIndexError::new_err("there is no such row")),
        }
    }

    /// The values as a list; a null is None.
    ///
    /// >>> a.to_pylist() == [a[0], a[1]]
    /// True
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        values::all(py, &*self.array)
    }

    /// Arrow's capsules of type and values.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // A request may be ignored if it cannot be met.
        let _ = requested_schema;
        capsule::of_array(py, &*self.array)
    }

    /// Arrow's capsule of the type.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let field = Field::new("", self.array.data_type().clone(), true);
        capsule::of_field(py, &field)
    }

    /// NumPy's array of the values: numbers, or bytes as a row of uint8 each. NumPy has to be installed.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(invalid("an array of NumPy is a copy"));
        }
        if self.array.logical_null_count() > 0 {
            return Err(invalid("there are nulls, which NumPy does not have; drop them first"));
        }
        let array = &self.array;
        let numpy = py.import("numpy")?;
        let from = |bytes: &[u8], kind: &str| numpy.call_method1("frombuffer", (PyBytes::new(py, bytes), kind));
        let made = match array.data_type() {
            DataType::UInt64 => from(array.as_primitive::<UInt64Type>().values().inner(), "u8")?,
            DataType::UInt32 => from(array.as_primitive::<UInt32Type>().values().inner(), "u4")?,
            DataType::Float64 => from(array.as_primitive::<Float64Type>().values().inner(), "f8")?,
            DataType::FixedSizeBinary(length) => {
                let bytes = array.as_fixed_size_binary();
                let bytes: Vec<u8> = (0..bytes.len()).flat_map(|row| bytes.value(row)).copied().collect();
                from(&bytes, "u1")?.call_method1("reshape", (-1, *length))?
            }
            _ => numpy.call_method1("array", (values::all(py, &**array)?,))?,
        };
        // The memory of bytes is not writable.
        let made = made.call_method0("copy")?;
        match dtype {
            Some(dtype) if !dtype.is_none() => made.call_method1("astype", (dtype,)),
            _ => Ok(made),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let schema = Arc::new(Schema::new(vec![Field::new("", self.array.data_type().clone(), true)]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(&self.array)]).map_err(of_arrow)?;
        pickled::as_call(py, "_array", (pickled::bytes(py, &schema, &[batch])?, self.hasher()))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        const SHOWN: usize = 4;
        let shown = values::all(py, &*self.array.slice(0, self.array.len().min(SHOWN)));
        let shown = shown.map_or_else(|_| Vec::new(), |shown| shown.iter().map(|value| value.to_string()).collect());
        let more = if self.array.len() > SHOWN { ", ..." } else { "" };
        let shown: Vec<String> = shown;
        format!("<fpstore.Array {}: {} [{}{more}]>", self.r#type(), self.array.len(), shown.join(", "))
    }
}

/// An array of its bytes, for pickle.
#[pyfunction]
#[pyo3(signature = (bytes, hasher))]
pub(crate) fn _array(py: Python<'_>, bytes: &[u8], hasher: Option<String>) -> PyResult<PyArray> {
    let batch = pickled::batch(py, bytes)?;
    let array = batch.columns().first().ok_or_else(|| invalid("these are no bytes of an array"))?;
    Ok(PyArray { array: Arc::clone(array), hasher })
}
