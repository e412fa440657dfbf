//! Threads of the bindings.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism};

use fpstore::{Error, ErrorKind, Result};

use crate::input::invalid;

/// More threads are a mistake, and could stop the machine.
const MOST: usize = 1024;

/// Threads that work for a store: this number, or one a processor.
///
/// # Errors
/// `InvalidInput` if they are none, or more than 1024.
pub fn threads(given: Option<usize>) -> Result<usize> {
    let threads = given.unwrap_or_else(|| available_parallelism().map_or(1, usize::from).min(MOST));
    if threads == 0 || threads > MOST {
        return Err(invalid(format!("threads={threads}: expected 1 to {MOST}")));
    }
    Ok(threads)
}

/// Starts a thread of a scope.
///
/// # Errors
/// `Io` if none can be started.
pub fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().name(name.to_owned()).spawn_scoped(scope, work).map_err(no_thread)
}

pub(crate) fn no_thread(error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot start a thread: {error}"))
}
