//! Reports as dictionaries.

use std::path::Path;

use fpstore::admin::{Statistics, VerifyReport};
use fpstore::repair::RepairReport;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{invalid, of_store};
use crate::log::log;

/// Sizes and counts, with the fields of `fpdump stats --json`.
pub(crate) fn statistics(py: Python<'_>, statistics: &Statistics) -> PyResult<Py<PyAny>> {
    let json = fpstore_bindings::statistics_json(statistics).map_err(of_store)?;
    let all = py.import("json")?.call_method1("loads", (json,))?;
    py.import("fpstore._stats")?.call_method1("Stats", (all,)).map(Bound::unbind)
}

/// What a verification found.
pub(crate) fn verified(py: Python<'_>, path: &Path, report: &VerifyReport) -> PyResult<Py<PyAny>> {
    let (level, path, damages) =
        (if report.damages.is_empty() { "info" } else { "error" }, path.display(), report.damages.len());
    log(py, level, &format!("{path}: verified {} files, {} bytes: {damages} damages", report.files, report.bytes))?;
    let all = PyDict::new(py);
    all.set_item("files", report.files)?;
    all.set_item("bytes", report.bytes)?;
    let damages = PyList::empty(py);
    for damage in &report.damages {
        let one = PyDict::new(py);
        one.set_item("path", &damage.path)?;
        one.set_item("offset", damage.offset)?;
        one.set_item("error", damage.to_string())?;
        damages.append(one)?;
    }
    all.set_item("damages", damages)?;
    Ok(all.into_any().unbind())
}

/// What a repair does, or has done: the fields of `fprepair --json`.
pub(crate) fn repaired(py: Python<'_>, path: &Path, done: bool, report: &RepairReport) -> PyResult<Py<PyAny>> {
    let mut json = Vec::new();
    let deed = if done { "repaired" } else { "a repair was planned" };
    log(py, "info", &format!("{}: {deed}", path.display()))?;
    fpstore_tools::repair_json::write(path, done, report, &mut json).map_err(|error| invalid(error.to_string()))?;
    py.import("json")?.call_method1("loads", (json,)).map(Bound::unbind)
}
