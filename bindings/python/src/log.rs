//! Events for `logging`, of the logger "fpstore".

use pyo3::prelude::*;

/// Tells of an event at a level, such as "info".
pub(crate) fn log(py: Python<'_>, level: &str, message: &str) -> PyResult<()> {
    py.import("logging")?.call_method1("getLogger", ("fpstore",))?.call_method1(level, (message,)).map(drop)
}
