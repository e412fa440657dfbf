//! Long calls: without the interpreter lock, and ended soon after Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use fpstore::env::Operation;
use fpstore::{Error, ErrorKind, Result};
use fpstore_bindings::{Handle, Stop};
use pyo3::prelude::*;

use crate::errors::of_store;

/// Time between two looks at signals. A call is to end within 200 ms.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
/// Time that work has to end after it was stopped. Later it ends by itself.
const GRACE: Duration = Duration::from_millis(100);

/// Runs work on a thread, and waits without the interpreter lock. Calls `watch` twenty times a second. If that, or a
/// handler of a signal, raises an exception, the work is asked to end. `work` is given what tells it so.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let stop = Stop::default();
    let its_stop = stop.clone();
    wait(py, start(move || work(&its_stop))?, || stop.set(true), |_| Ok(()))
}

/// The same for work of a store whose writes to new files are refused when it is asked to end; the store is then as
/// before.
pub(crate) fn change<T: Send + 'static>(
    py: Python<'_>,
    handle: &Arc<Handle>,
    watch: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce(&Handle) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let (operation, store) = (Operation::default(), Arc::clone(handle));
    let its_operation = operation.clone();
    let receiver = start(move || its_operation.run(|| work(&store)))?;
    let ask = || {
        handle.has_stopped.store(true, Relaxed);
        operation.stop();
    };
    wait(py, receiver, ask, watch)
}

/// A result, or that the work has panicked.
type Outcome<T> = thread::Result<Result<T>>;

fn start<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> PyResult<Receiver<Outcome<T>>> {
    let (sender, receiver) = sync_channel(1);
    // The caller may have gone.
    let work = move || drop(sender.send(catch_unwind(AssertUnwindSafe(work))));
    let thread = thread::Builder::new().name("fpstore call".to_owned()).spawn(work);
    thread.map_err(|error| of_store(Error::new(ErrorKind::Io, format!("cannot start a thread: {error}"))))?;
    Ok(receiver)
}

fn wait<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<Outcome<T>>,
    ask: impl FnOnce(),
    mut watch: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    loop {
        let (waited, back) = py.detach(move || (receiver.recv_timeout(PAUSE), receiver));
        receiver = back;
        match waited {
            Ok(Ok(result)) => {
                let result = result.map_err(of_store)?;
                watch(py)?;
                return Ok(result);
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(of_store(Error::new(ErrorKind::Io, "a thread of fpstore has panicked; please report it")));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = py.check_signals().and_then(|()| watch(py)) {
                    ask();
                    py.detach(move || drop(receiver.recv_timeout(GRACE)));
                    return Err(raised);
                }
            }
        }
    }
}
