//! Series and data frames of pandas where pyarrow is missing, without which they have no Arrow stream.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The columns of a data frame by their names; `None` of anything else.
pub(crate) fn columns<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if !given.hasattr("notna")? || !given.hasattr("columns")? {
        return Ok(None);
    }
    let columns = PyDict::new(given.py());
    for column in given.call_method0("items")?.try_iter()? {
        let (name, column): (Bound<'py, PyAny>, Bound<'py, PyAny>) = column?.extract()?;
        columns.set_item(name, column)?;
    }
    Ok(Some(columns))
}

/// The values of a series, with None for each missing one, which pandas has as NaN or NA; `None` of anything else.
pub(crate) fn values<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyList>>> {
    if !given.hasattr("notna")? {
        return Ok(None);
    }
    let present = given.call_method0("notna")?;
    let objects = given.call_method1("astype", ("object",))?;
    let values = objects.call_method1("where", (present, given.py().None()))?;
    Ok(Some(values.call_method0("tolist")?.cast_into::<PyList>()?))
}
