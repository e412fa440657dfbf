//! Errors of arguments.

use arrow_schema::DataType;
use fpstore::{Error, ErrorKind};

/// An argument that is refused.
#[must_use]
pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, message)
}

/// The error of a column of the wrong type.
pub(crate) fn wrong_type(what: &str, found: &DataType, wanted: &str) -> Error {
    invalid(format!("{what} are of type {found}; expected {wanted}"))
}
