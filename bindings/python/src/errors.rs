//! Errors of the library as Python's exceptions. Their classes are in `fpstore/errors.py`.

use arrow_schema::ArrowError;
use fpstore::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::wording;

/// The class of a kind.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "NotFoundError",
        ErrorKind::AlreadyExists => "AlreadyExistsError",
        ErrorKind::Damaged => "DamagedError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::InvalidInput => "InvalidInputError",
        ErrorKind::Locked => "LockedError",
        ErrorKind::ReadOnly => "ReadOnlyError",
        ErrorKind::Poisoned => "PoisonedError",
        ErrorKind::Stopped => "StoppedError",
        _ => "IoError",
    }
}

/// The exception of an error of the library.
pub(crate) fn of_store(error: Error) -> PyErr {
    Python::attach(|py| {
        let made = made(py, &error);
        made.unwrap_or_else(|failed| failed)
    })
}

/// The class of exceptions of a kind.
fn class_of(py: Python<'_>, kind: ErrorKind) -> PyResult<Bound<'_, PyType>> {
    static MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("fpstore.errors").map(|module| module.into_any().unbind()))?;
    module.bind(py).getattr(class(kind))?.cast_into().map_err(PyErr::from)
}

fn made(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = class_of(py, error.kind())?;
    let path = error.path().map(std::path::Path::to_path_buf);
    let exception = class.call1((error.to_string(), path, error.offset(), error.row()))?;
    Ok(PyErr::from_value(exception))
}

/// The exception of an error of Arrow: that of the library if it came from there.
pub(crate) fn of_arrow(error: ArrowError) -> PyErr {
    match error {
        ArrowError::ExternalError(source) => match source.downcast::<Error>() {
            Ok(error) => of_store(*error),
            Err(other) => invalid(other.to_string()),
        },
        other => invalid(other.to_string()),
    }
}

/// The exception of a refused value of Python in a row of an argument; others pass.
pub(crate) fn in_row(py: Python<'_>, error: PyErr, name: &str, row: usize) -> PyErr {
    let text = error.value(py).to_string();
    match class_of(py, ErrorKind::InvalidInput).and_then(|class| error.value(py).is_instance(&class)) {
        Ok(true) => of_store(Error::new(ErrorKind::InvalidInput, format!("{name}: {text}")).at_row(row as u64)),
        _ => error,
    }
}

/// The exception of an error of the options of a sketch.
pub(crate) fn of_options(error: &anyhow::Error) -> PyErr {
    let text = wording::of_arguments(&format!("{error:#}"));
    match error.downcast_ref::<Error>() {
        Some(error) => invalid_of(error.kind(), text),
        None => invalid(text),
    }
}

/// A refused argument.
pub(crate) fn invalid(message: impl Into<String>) -> PyErr {
    invalid_of(ErrorKind::InvalidInput, message.into())
}

fn invalid_of(kind: ErrorKind, message: String) -> PyErr {
    of_store(Error::new(kind, message))
}
