//! What belongs to a process, and is not there in one that was forked from it: its threads.

use std::convert::Infallible;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use fpstore::{Error, ErrorKind, Options, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::invalid;

/// How often this process, and the ones that it was forked from, were forked. Costs less than to ask the system for the
/// number of the process, which every call would do.
static FORKS: AtomicU32 = AtomicU32::new(0);

#[pyfunction]
fn forked() {
    FORKS.fetch_add(1, Relaxed);
}

/// Lets Python tell of forks, where there are any.
pub(crate) fn watch_forks(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let (py, os) = (module.py(), module.py().import("os")?);
    if !os.hasattr("register_at_fork")? {
        return Ok(());
    }
    let tell = PyDict::new(py);
    tell.set_item("after_in_child", wrap_pyfunction!(forked, module)?)?;
    os.call_method("register_at_fork", (), Some(&tell)).map(drop)
}

/// A value of the process that made it.
pub(crate) struct Own<T>(Mutex<Option<(u32, T)>>);

impl<T: Clone> Own<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The value of this process, which `make` makes at first.
    pub(crate) fn get<E>(&self, make: impl FnOnce() -> std::result::Result<T, E>) -> std::result::Result<T, E> {
        let mut value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*value {
            Some((owner, value)) if *owner == FORKS.load(Relaxed) => Ok(value.clone()),
            _ => {
                let made = make()?;
                // Dropping a value of the parent would wait for threads that are not here.
                mem::forget(value.replace((FORKS.load(Relaxed), made.clone())));
                Ok(made)
            }
        }
    }
}

/// The threads that make sketches.
pub(crate) fn pool() -> Result<Arc<ThreadPool>> {
    static POOL: Own<Arc<ThreadPool>> = Own::new();
    let make = || ThreadPoolBuilder::new().build().map(Arc::new);
    POOL.get(make).map_err(|error| Error::new(ErrorKind::Io, format!("cannot start threads: {error}")))
}

/// The options that stores share, with their threads.
pub(crate) fn options() -> Options {
    static OPTIONS: Own<Options> = Own::new();
    let Ok(options) = OPTIONS.get(|| Ok::<_, Infallible>(Options::new()));
    options
}

/// A value that only the process that made it uses and drops.
#[derive(Debug)]
pub(crate) struct OfProcess<T> {
    owner: u32,
    value: Option<T>,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { owner: FORKS.load(Relaxed), value: Some(value) }
    }

    /// The value of a snapshot.
    pub(crate) fn of_snapshot(&self) -> PyResult<&T> {
        let forked = || invalid("the snapshot was made before this process was forked; open the store here");
        self.get().ok_or_else(forked)
    }

    /// The value; `None` in a forked process.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.owner == FORKS.load(Relaxed))
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.owner != FORKS.load(Relaxed) {
            mem::forget(self.value.take());
        }
    }
}
