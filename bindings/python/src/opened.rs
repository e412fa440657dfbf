//! A store until it is closed, and what stores of fingerprints and key indexes share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use fpstore::admin::{BackupMode, Statistics};
use fpstore_bindings::{AnyIndex, Handle, Loaded};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call;
use crate::errors::{invalid, of_store};
use crate::process::OfProcess;
use crate::source::Source;

/// A store, until it is closed.
pub(crate) struct Opened {
    handle: OfProcess<RwLock<Option<Arc<Handle>>>>,
    path: PathBuf,
    is_read_only: bool,
}

impl Opened {
    pub(crate) fn new(handle: Handle) -> Self {
        let (path, is_read_only) = (handle.path().to_owned(), handle.is_read_only);
        Self { handle: OfProcess::new(RwLock::new(Some(Arc::new(handle)))), path, is_read_only }
    }

    /// The open store. The lock is held for a moment, and no thread takes that of the interpreter meanwhile.
    pub(crate) fn get(&self) -> PyResult<Arc<Handle>> {
        let Some(handle) = self.handle.get() else {
            let path = self.path.display();
            return Err(invalid(format!("{path}: the store was opened before this process was forked; open it here")));
        };
        let handle = handle.read().unwrap_or_else(PoisonError::into_inner).clone();
        handle.ok_or_else(|| invalid(format!("{}: the store is closed", self.path.display())))
    }

    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Some(handle) = self.handle.get() else { return Ok(()) };
        let Some(handle) = handle.write().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
        // A call that was stopped may still be ending.
        while handle.stop.check().is_err() {
            py.detach(|| thread::sleep(Duration::from_millis(2)));
            py.check_signals()?;
        }
        match Arc::into_inner(handle) {
            Some(handle) => py.detach(|| handle.close()).map_err(of_store),
            // It closes when a call of another thread, or the answers that are still read, end.
            None => Ok(()),
        }
    }

    /// The arguments of `open` that open it again, for pickle.
    pub(crate) fn reduce<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PathBuf,))> {
        if !self.is_read_only {
            return Err(invalid("only a store that is open with read_only=True can be pickled, as its path"));
        }
        Ok((py.import("fpstore")?.getattr("_open_read_only")?, (self.path.clone(),)))
    }

    pub(crate) fn shown(&self, class: &str) -> String {
        let path = self.path.display();
        let Ok(handle) = self.get() else { return format!("<fpstore.{class} {path} (closed)>") };
        let parameters = handle.parameters();
        let what = match parameters.keys() {
            Some(format) => format!("keys of {} bits", format.key_bits()),
            None => format!("{} bits, max_distance={}", parameters.width(), parameters.max_distance()),
        };
        let mode = if self.is_read_only { ", read-only" } else { "" };
        format!("<fpstore.{class} {path}: {what}, ids={}{mode}>", parameters.ids())
    }

    pub(crate) fn statistics(&self, py: Python<'_>) -> PyResult<Statistics> {
        let handle = self.get()?;
        Ok(py.detach(|| match &handle.index {
            AnyIndex::Store(store) => store.statistics(),
            AnyIndex::Keys(index) => index.statistics(),
        }))
    }

    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only
    }
}

/// Calls a function of Python with the number of records so far, twenty times a second and at the end.
pub(crate) fn told(progress: Option<Py<PyAny>>, seen: &Arc<AtomicU64>) -> impl FnMut(Python<'_>) -> PyResult<()> {
    let seen = Arc::clone(seen);
    move |py| match &progress {
        Some(progress) => progress.call1(py, (seen.load(Relaxed),)).map(drop),
        None => Ok(()),
    }
}

/// The report of a load as a dictionary.
pub(crate) fn report(py: Python<'_>, loaded: Loaded) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("records", loaded.records)?;
    all.set_item("added", loaded.added)?;
    all.set_item("removed", loaded.removed)?;
    all.set_item("nulls", loaded.nulls)?;
    Ok(all)
}

/// Removes the records of many ids.
pub(crate) fn remove_ids(py: Python<'_>, opened: &Opened, ids: &Bound<'_, PyAny>) -> PyResult<u64> {
    let (handle, source) = (opened.get()?, Source::of(ids)?);
    call::change(py, &handle, |_| Ok(()), move |handle| fpstore_bindings::remove_ids(handle, source.pieces))
}

/// Calls `work` with the function that is told of the progress: the caller's, or with True one that moves a bar.
pub(crate) fn bar<'py, T>(
    py: Python<'py>,
    progress: Option<&Bound<'py, PyAny>>,
    unit: &str,
    work: impl FnOnce(Option<Py<PyAny>>) -> PyResult<T>,
) -> PyResult<T> {
    let Some(given) = progress.filter(|given| !given.is_none() && !given.is(pyo3::types::PyBool::new(py, false)))
    else {
        return work(None);
    };
    if !given.is(pyo3::types::PyBool::new(py, true)) {
        return work(Some(given.clone().unbind()));
    }
    let bar = py.import("fpstore._progress")?.call_method1("bar", (unit,))?;
    let done = work(Some(bar.getattr("update")?.unbind()));
    bar.call_method0("close")?;
    done
}

/// How a backup is made.
pub(crate) fn backup_mode(hard_links: bool) -> BackupMode {
    if hard_links { BackupMode::Link } else { BackupMode::Copy }
}
