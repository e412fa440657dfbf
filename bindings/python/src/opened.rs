//! A store until it is closed.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use fpstore::Parameters;
use fpstore::admin::Statistics;
use fpstore_bindings::Handle;
use pyo3::prelude::*;

use crate::call;
use crate::errors::invalid;
use crate::process::OfProcess;

/// A store, until it is closed.
pub(crate) struct Opened {
    handle: OfProcess<RwLock<Option<Arc<Handle>>>>,
    pub(crate) path: PathBuf,
    pub(crate) is_read_only: bool,
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
        // A call that was stopped may still be ending: the store is closed only after it.
        while handle.has_stopped.load(Relaxed) && Arc::strong_count(&handle) > 1 {
            py.detach(|| thread::sleep(Duration::from_millis(2)));
            py.check_signals()?;
        }
        match Arc::into_inner(handle) {
            // After Ctrl-C it goes on closing by itself.
            Some(handle) => call::run(py, move |_| handle.close()),
            // It closes when a call of another thread ends.
            None => Ok(()),
        }
    }

    pub(crate) fn statistics(&self, py: Python<'_>) -> PyResult<Statistics> {
        let handle = self.get()?;
        Ok(py.detach(|| handle.statistics()))
    }
}

impl Drop for Opened {
    /// A store that was not closed writes what it holds: without the lock of the interpreter.
    fn drop(&mut self) {
        let handle = self.handle.get().and_then(|handle| handle.write().unwrap_or_else(PoisonError::into_inner).take());
        if handle.is_some() {
            // While the interpreter ends there is no lock to release, and the handle is dropped as well.
            let _ = Python::try_attach(|py| py.detach(move || drop(handle)));
        }
    }
}

/// What is at a path, for people: without `parameters`, a store that is closed.
pub(crate) fn shown(class: &str, path: &Path, parameters: Option<&Parameters>, mode: &str) -> String {
    let path = path.display();
    let Some(parameters) = parameters else { return format!("<fpstore.{class} {path} (closed)>") };
    let what = match parameters.keys() {
        Some(format) => format!("keys of {} bits", format.key_bits()),
        None => format!("{} bits, max_distance={}", parameters.width(), parameters.max_distance()),
    };
    format!("<fpstore.{class} {path}: {what}, ids={}{mode}>", parameters.ids())
}
