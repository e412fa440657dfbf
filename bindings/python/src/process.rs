//! What belongs to a process, and is not there in one that was forked from it: its threads.

use std::convert::Infallible;
use std::mem;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use fpstore::{Error, ErrorKind, Options, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A value of the process that made it.
struct Own<T>(Mutex<Option<(u32, T)>>);

impl<T: Clone> Own<T> {
    const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The value of this process, which `make` makes at first.
    fn get<E>(&self, make: impl FnOnce() -> std::result::Result<T, E>) -> std::result::Result<T, E> {
        let mut value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*value {
            Some((owner, value)) if *owner == process::id() => Ok(value.clone()),
            _ => {
                let made = make()?;
                // Dropping a value of the parent would wait for threads that are not here.
                mem::forget(value.replace((process::id(), made.clone())));
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
        Self { owner: process::id(), value: Some(value) }
    }

    /// The value; `None` in a forked process.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.owner == process::id())
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.owner != process::id() {
            mem::forget(self.value.take());
        }
    }
}
