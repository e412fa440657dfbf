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
use crate::running::{Ask, Running};

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
    let ask: Ask = Arc::new(move || stop.set(true));
    wait(py, start(&ask, move || work(&its_stop))?, &ask, |_| Ok(()))
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
    let (its_operation, asked) = (operation.clone(), Arc::downgrade(handle));
    let ask: Ask = Arc::new(move || {
        if let Some(handle) = asked.upgrade() {
            handle.has_stopped.store(true, Relaxed);
        }
        operation.stop();
    });
    wait(py, start(&ask, move || its_operation.run(|| work(&store)))?, &ask, watch)
}

/// A result, or that the work has panicked.
type Outcome<T> = thread::Result<Result<T>>;

fn start<T: Send + 'static>(
    ask: &Ask,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<Receiver<Outcome<T>>> {
    let running = Running::new(Arc::clone(ask));
    let (sender, receiver) = sync_channel(1);
    let work = move || {
        // The caller may have gone.
        drop(sender.send(catch_unwind(AssertUnwindSafe(work))));
        drop(running);
    };
    let thread = thread::Builder::new().name("fpstore call".to_owned()).spawn(work);
    thread.map_err(|error| of_store(Error::new(ErrorKind::Io, format!("cannot start a thread: {error}"))))?;
    Ok(receiver)
}

fn wait<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<Outcome<T>>,
    ask: &Ask,
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
