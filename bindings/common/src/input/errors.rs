//! Errors of arguments.

use arrow_schema::DataType;
use fpstore::{Error, ErrorKind};

/// An argument that is refused.
#[must_use]
pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, message)
}

/// Says which row of its column a refused value is of. The errors of another kind are not of a row.
pub fn in_row(row: usize) -> impl Fn(Error) -> Error {
    move |error| if error.kind() == ErrorKind::InvalidInput { error.at_row(row as u64) } else { error }
}

/// The error of a column of the wrong type.
pub(crate) fn wrong_type(what: &str, found: &DataType, wanted: &str) -> Error {
    invalid(format!("{what} are of type {found}; expected {wanted}"))
}
