//! Values of arrays as Python's.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayAccessor, ArrayRef};
use arrow_schema::DataType;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::invalid;

/// The value of a row.
pub(crate) fn value<'py>(py: Python<'py>, array: &dyn Array, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match array.data_type() {
        DataType::Null => Ok(py.None().into_bound(py)),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into_bound_py_any(py),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into_bound_py_any(py),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into_bound_py_any(py),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into_bound_py_any(py),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).into_bound_py_any(py),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into_bound_py_any(py),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into_bound_py_any(py),
        DataType::Boolean => array.as_boolean().value(row).into_bound_py_any(py),
        DataType::Utf8 => array.as_string::<i32>().value(row).into_bound_py_any(py),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into_bound_py_any(py),
        DataType::Utf8View => array.as_string_view().value(row).into_bound_py_any(py),
        DataType::Binary => bytes(py, array.as_binary::<i32>(), row),
        DataType::LargeBinary => bytes(py, array.as_binary::<i64>(), row),
        DataType::BinaryView => bytes(py, array.as_binary_view(), row),
        DataType::FixedSizeBinary(_) => bytes(py, array.as_fixed_size_binary(), row),
        DataType::List(_) => list(py, &array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(py, &array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => list(py, &array.as_fixed_size_list().value(row)),
        DataType::Dictionary(..) => {
            let plain = fpstore_bindings::input::plain(&array.slice(row, 1)).map_err(crate::errors::of_store)?;
            value(py, &*plain, 0)
        }
        other => Err(invalid(format!("values of type {other} have no form in Python here; use pyarrow or polars"))),
    }
}

fn bytes<'py, 'a>(
    py: Python<'py>,
    array: impl ArrayAccessor<Item = &'a [u8]>,
    row: usize,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyBytes::new(py, array.value(row)).into_any())
}

fn list<'py>(py: Python<'py>, values: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    Ok(all(py, &**values)?.into_any())
}

/// The values of all rows.
pub(crate) fn all<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    rows(py, array.len()).try_for_each(|row| list.append(value(py, array, row?)?))?;
    Ok(list)
}

/// A list of what `make` makes of each.
pub(crate) fn listed<'py, T>(
    py: Python<'py>,
    found: Vec<T>,
    make: impl Fn(T) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let made = rows(py, found.len()).zip(found).map(|(row, one)| row.and_then(|_| make(one)));
    PyList::new(py, made.collect::<PyResult<Vec<_>>>()?)
}

/// The numbers of rows that are converted. Now and then other threads get the lock of the interpreter, and signals are
/// looked at: Ctrl-C ends the conversion of millions.
pub(crate) fn rows(py: Python<'_>, count: usize) -> impl Iterator<Item = PyResult<usize>> {
    (0..count).map(move |row| {
        if (row + 1).is_multiple_of(1 << 14) {
            py.detach(|| ());
            py.check_signals()?;
        }
        Ok(row)
    })
}
