//! Arguments that are refused: what is wrong, for people.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::errors::invalid;

/// The exception of an argument: a `TypeError`, or of a number that is too small or too large an `InvalidInputError`.
pub(crate) fn refused(name: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    if value.is_exact_instance_of::<PyInt>() && wanted.contains("number") {
        return invalid(format!("{name}={value}: expected {wanted}, neither negative nor so large"));
    }
    PyTypeError::new_err(format!("{name}={}: expected {wanted}, not a {}", shown(value), type_name(value)))
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
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}
