//! Arguments that are refused: messages that say what is wrong with them.

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::errors::invalid;

/// The exception of an argument: a `TypeError`, or an `InvalidInputError` of a number beyond its range, or of a text
/// that is none.
pub(crate) fn refused(name: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    if value.is_exact_instance_of::<PyInt>() && wanted.contains("number") {
        return invalid(format!("{name}={value}: expected {wanted}"));
    }
    if wanted.contains("str") && has_surrogates(value) {
        return invalid(format!("{name}={}: {SURROGATES}", shown(value)));
    }
    let type_name = type_name(value);
    let article = if type_name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" };
    PyTypeError::new_err(format!("{name}={}: expected {wanted}, not {article} {type_name}", shown(value)))
}

/// The exception of a value that could not be converted: `refusal`, or what the value's own code has raised, such as
/// that of Ctrl-C while it made a path.
pub(crate) fn not_converted(py: Python<'_>, raised: PyErr, refusal: impl FnOnce() -> PyErr) -> PyErr {
    if raised.is_instance_of::<PyException>(py) { refusal() } else { raised }
}

/// The exception of a value in a column.
pub(crate) fn refused_in_column(value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    if has_surrogates(value) {
        return invalid(format!("{}: {SURROGATES}", shown(value)));
    }
    invalid(format!("expected {wanted}, not {}", shown(value)))
}

const SURROGATES: &str = "expected a str without surrogates, which UTF-8 cannot hold";

/// Whether it is a text that has no form in UTF-8.
fn has_surrogates(value: &Bound<'_, PyAny>) -> bool {
    value.cast::<PyString>().is_ok_and(|text| text.to_cow().is_err())
}

/// A value for a message, cut short.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 80;
    let text = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The name of the type of a value.
fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}
