//! Named threads that do one thing and end.

use super::operation::Operation;
use crate::error::{Error, Result};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

pub(crate) fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    // In a box, all closures with a result of this type are one type to the compiler.
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(Operation::inherited(work));
    Builder::new().name(name.into()).spawn(work).map_err(Error::no_thread)
}

/// A thread that works for all callers: it does not end with the operation of this one.
pub(crate) fn spawn_background<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    Operation::background().run(|| spawn(name, work))
}

pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    let work: Box<dyn FnOnce() -> T + Send + 'scope> = Box::new(Operation::inherited(work));
    Builder::new().name(name.into()).spawn_scoped(scope, work).map_err(Error::no_thread)
}
