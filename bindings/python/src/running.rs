//! The threads of calls, which the interpreter waits for before it ends: those that read a stream of the caller use it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

use crate::process::Own;

/// Time between two looks at signals.
const PAUSE: Duration = Duration::from_millis(50);

/// Asks the work of a call to end.
pub(crate) type Ask = Arc<dyn Fn() + Send + Sync>;

/// What asks the calls that run to end, by the numbers of the calls.
#[derive(Default)]
struct Calls {
    asks: Mutex<BTreeMap<u64, Ask>>,
    ended: Condvar,
}

impl Calls {
    /// Those of this process.
    fn own() -> Arc<Self> {
        static CALLS: Own<Arc<Calls>> = Own::new();
        let Ok(calls) = CALLS.get(|| Ok::<_, Infallible>(Arc::default()));
        calls
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Ask>> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that runs, until this is dropped.
pub(crate) struct Running {
    number: u64,
    calls: Arc<Calls>,
}

impl Running {
    pub(crate) fn new(ask: Ask) -> Self {
        let calls = Calls::own();
        let mut asks = calls.lock();
        let number = asks.last_key_value().map_or(0, |(last, _)| last + 1);
        asks.insert(number, ask);
        drop(asks);
        Self { number, calls }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.number);
        self.calls.ended.notify_all();
    }
}

/// Asks all calls to end and waits until they have. Ctrl-C ends the wait.
#[pyfunction]
fn end_calls(py: Python<'_>) -> PyResult<()> {
    let calls = Calls::own();
    // Copied: an ask may take other locks.
    let asks: Vec<Ask> = calls.lock().values().cloned().collect();
    asks.iter().for_each(|ask| ask());
    let wait = || {
        let waited = calls.ended.wait_timeout_while(calls.lock(), PAUSE, |asks| !asks.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    };
    while py.detach(wait) {
        py.check_signals()?;
    }
    Ok(())
}

/// Lets Python end the calls before it ends.
pub(crate) fn watch_exit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let end = wrap_pyfunction!(end_calls, module)?;
    module.py().import("atexit")?.call_method1("register", (end,)).map(drop)
}
