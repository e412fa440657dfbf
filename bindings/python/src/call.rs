//! Long calls: without the interpreter lock, and ended soon after Ctrl-C.

use std::mem::replace;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use fpstore::{Error, ErrorKind, Result};
use fpstore_bindings::{Handle, Stop};
use pyo3::prelude::*;

use crate::errors::of_store;

/// Time between two looks at signals. A call is to end within 200 ms.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
/// Time that work has to end after it was stopped. Later it ends by itself.
const GRACE: Duration = Duration::from_millis(100);

/// How far work is. One lock decides whether it was asked to end before it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It waits for its turn.
    Waiting,
    Running,
    /// It was asked to end.
    Asked,
    /// It has ended, or will not begin.
    Ended,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs work on a thread, and waits without the interpreter lock. Calls `watch` twenty times a second. If that, or a
/// handler of a signal, raises an exception, the work is asked to end. `work` is given what tells it so.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let stop = Stop::default();
    let phase = Arc::new(Mutex::new(Phase::Running));
    let (within, its_stop) = (Arc::clone(&phase), stop.clone());
    let result = move || ended(&within, &its_stop, || work(&its_stop));
    wait(py, start(result)?, &phase, &stop, |_| Ok(()))
}

/// The same for work that changes a store. It waits for its turn: the stop of a store stops one such work at a time, and
/// the store is then as before.
pub(crate) fn change<T: Send + 'static>(
    py: Python<'_>,
    handle: &Arc<Handle>,
    watch: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce(&Handle) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let phase = Arc::new(Mutex::new(Phase::Waiting));
    let (within, store) = (Arc::clone(&phase), Arc::clone(handle));
    let result = move || {
        let _turn = lock(&store.turn);
        if replace(&mut *lock(&within), Phase::Running) == Phase::Ended {
            return Ok(Err(Error::new(ErrorKind::Stopped, "stopped before the beginning")));
        }
        ended(&within, &store.stop, || work(&store))
    };
    wait(py, start(result)?, &phase, &handle.stop, watch)
}

/// A result, or that the work has panicked.
type Outcome<T> = thread::Result<Result<T>>;

/// Does the work, and takes back the request to end if there was one.
fn ended<T>(phase: &Mutex<Phase>, stop: &Stop, work: impl FnOnce() -> Result<T>) -> Outcome<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    if replace(&mut *lock(phase), Phase::Ended) == Phase::Asked {
        stop.release();
    }
    result
}

fn start<T: Send + 'static>(work: impl FnOnce() -> Outcome<T> + Send + 'static) -> PyResult<Receiver<Outcome<T>>> {
    let (sender, receiver) = sync_channel(1);
    // The caller may have gone.
    let work = move || drop(sender.send(work()));
    let thread = thread::Builder::new().name("fpstore call".to_owned()).spawn(work);
    thread.map_err(|error| of_store(Error::new(ErrorKind::Io, format!("cannot start a thread: {error}"))))?;
    Ok(receiver)
}

fn wait<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<Outcome<T>>,
    phase: &Mutex<Phase>,
    stop: &Stop,
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
                    ask(phase, stop);
                    py.detach(move || drop(receiver.recv_timeout(GRACE)));
                    return Err(raised);
                }
            }
        }
    }
}

/// Asks work to end, unless it has.
fn ask(phase: &Mutex<Phase>, stop: &Stop) {
    let mut now = lock(phase);
    match *now {
        Phase::Waiting => *now = Phase::Ended,
        Phase::Running => {
            stop.ask();
            *now = Phase::Asked;
        }
        Phase::Asked | Phase::Ended => {}
    }
}
