//! What loads of stores and of key indexes share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fpstore::Result;
use fpstore_bindings::{Handle, Loaded};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::call;
use crate::log::log;

/// Loads on a thread, with the progress that was asked for. `load` calls a function with the number of records so far.
/// Returns the report as a dictionary.
pub(crate) fn load<'py>(
    py: Python<'py>,
    handle: &Arc<Handle>,
    progress: Option<&Bound<'py, PyAny>>,
    load: impl FnOnce(&Handle, &mut dyn FnMut(u64) -> Result<()>) -> Result<Loaded> + Send + 'static,
) -> PyResult<Bound<'py, PyDict>> {
    let seen = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&seen);
    let work = move |handle: &Handle| {
        load(handle, &mut |records| {
            counted.store(records, Relaxed);
            Ok(())
        })
    };
    let loaded = bar(py, progress, |progress| call::change(py, handle, told(progress, &seen), work))?;
    let Loaded { records, added, removed, nulls } = loaded;
    let path = handle.path().display();
    log(py, "info", &format!("{path}: {records} records were read, {added} added, {removed} removed"))?;
    let all = PyDict::new(py);
    all.set_item("records", records)?;
    all.set_item("added", added)?;
    all.set_item("removed", removed)?;
    all.set_item("nulls", nulls)?;
    Ok(all)
}

/// Calls a function of Python with the number of records so far, twenty times a second and at the end.
fn told(progress: Option<Py<PyAny>>, seen: &Arc<AtomicU64>) -> impl FnMut(Python<'_>) -> PyResult<()> {
    let seen = Arc::clone(seen);
    move |py| match &progress {
        Some(progress) => progress.call1(py, (seen.load(Relaxed),)).map(drop),
        None => Ok(()),
    }
}

/// Calls `work` with the function that is told of the progress: the caller's, or with True one that moves a bar.
fn bar<'py, T>(
    py: Python<'py>,
    progress: Option<&Bound<'py, PyAny>>,
    work: impl FnOnce(Option<Py<PyAny>>) -> PyResult<T>,
) -> PyResult<T> {
    let Some(given) = progress.filter(|given| !given.is_none() && !given.is(PyBool::new(py, false))) else {
        return work(None);
    };
    if !given.is(PyBool::new(py, true)) {
        return work(Some(given.clone().unbind()));
    }
    let bar = py.import("fpstore._progress")?.call_method1("bar", ("records",))?;
    let done = work(Some(bar.getattr("update")?.unbind()));
    bar.call_method0("close")?;
    done
}
