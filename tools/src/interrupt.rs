//! Ctrl-C: the work is told to stop, so that what it has begun is tidied up. A second one ends the program at once.

use std::error::Error;
use std::fmt;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;

/// What a shell reports of a program that SIGINT has ended.
pub const EXIT_CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);
static STOPS: Mutex<Vec<Box<dyn Fn() + Send>>> = Mutex::new(Vec::new());

/// The user wants the program to end.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped")
    }
}

impl Error for Interrupted {}

/// From now on Ctrl-C does not end the program by itself.
///
/// # Errors
///
/// When the system does not let the program know.
pub fn listen() -> anyhow::Result<()> {
    let handler = || {
        if ASKED.swap(true, Relaxed) {
            process::exit(EXIT_CODE.into());
        }
        STOPS.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|stop| stop());
    };
    ctrlc::set_handler(handler).context("cannot be told of Ctrl-C")
}

/// Calls `stop` when the user wants the program to end, on another thread.
///
/// # Errors
///
/// When that is so already.
pub fn on_interrupt(stop: impl Fn() + Send + 'static) -> Result<(), Interrupted> {
    STOPS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(stop));
    check()
}

/// As long as the user does not want the program to end.
///
/// # Errors
///
/// When that is so.
pub fn check() -> Result<(), Interrupted> {
    if ASKED.load(Relaxed) { Err(Interrupted) } else { Ok(()) }
}

/// Whether an error is only that the user wants the program to end.
pub fn is_cause_of(error: &anyhow::Error) -> bool {
    error.is::<Interrupted>()
        || error.downcast_ref::<fpstore::Error>().is_some_and(|error| error.kind() == fpstore::ErrorKind::Stopped)
}
