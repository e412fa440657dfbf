//! Named threads that do one thing and end.

use crate::error::{Error, Result};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

pub(crate) fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    Builder::new().name(name.into()).spawn(work).map_err(Error::no_thread)
}

pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().name(name.into()).spawn_scoped(scope, work).map_err(Error::no_thread)
}
