//! Signals that ask a program to stop: Ctrl-C (SIGINT), SIGTERM, SIGHUP.
//!
//! A thread waits for them. Normally it removes the temporary files registered here ([`Temporary`]) and exits, even
//! while the program waits for input. Work that must end by itself registers first ([`hold`], [`on_interrupt`]); the
//! signal then only notifies it, and a second signal exits all the same. The exit code is the one a shell reports for a
//! program ended by the signal: 130, 143, 129.
//!
//! Signals that the caller has set to be ignored, as `nohup` does, stay ignored.

use std::error::Error;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first signal received; 0 if there was none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static STATE: Mutex<State> =
    Mutex::new(State { holds: 0, stops: Vec::new(), next: 0, temporaries: Vec::new(), left: "" });

struct State {
    /// Number of registered works that must end by themselves.
    holds: usize,
    /// Callbacks that notify work, each with its number.
    stops: Vec<(u64, Box<dyn Fn() + Send>)>,
    /// Number of the next callback.
    next: u64,
    /// Files and directories to remove at exit.
    temporaries: Vec<PathBuf>,
    /// Message for the user on the state that a stopped run leaves.
    left: &'static str,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The user has asked the program to stop.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped")
    }
}

impl Error for Interrupted {}

/// Installs the handling of signals.
///
/// # Errors
///
/// If the system refuses to report signals.
#[cfg(unix)]
pub fn listen(program: &'static str) -> anyhow::Result<()> {
    use anyhow::Context;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let signals = signal_hook::iterator::Signals::new(wanted);
    let mut signals = signals.context("cannot receive signals")?;
    let wait = move || signals.forever().for_each(|signal| received(program, signal));
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).context("cannot receive signals")?;
    Ok(())
}

/// Does nothing: the system's own handling applies.
///
/// # Errors
///
/// None.
#[cfg(not(unix))]
pub fn listen(_: &'static str) -> anyhow::Result<()> {
    Ok(())
}

/// Returns the signals that the program was started to ignore, a bit each, where the system reports them.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Handles a signal.
#[cfg(unix)]
fn received(program: &str, signal: i32) {
    let first = SIGNAL.compare_exchange(0, signal, SeqCst, SeqCst).is_ok();
    let state = state();
    if first && (state.holds > 0 || !state.stops.is_empty()) {
        state.stops.iter().for_each(|(_, stop)| stop());
        return;
    }
    state.temporaries.iter().for_each(|path| remove(path));
    let left = if first { state.left } else { "at once; the next run removes what this one may have left" };
    tell(program, left);
    std::process::exit(128 + signal);
}

/// Reports that the program was stopped.
fn tell(program: &str, left: &str) {
    let mut error = io::stderr().lock();
    // Start a new line after the key that a terminal echoes, or after the progress bar.
    let begin = if error.is_terminal() { "\n" } else { "" };
    let separator = if left.is_empty() { "" } else { "; " };
    // A closed standard error leaves no place for the message.
    let _ = writeln!(error, "{begin}{program}: stopped{separator}{left}");
}

/// Reports that a signal has stopped the program and returns its exit code; `None` if there was no signal.
#[must_use]
pub fn stopped(program: &str) -> Option<u8> {
    let signal = SIGNAL.load(SeqCst);
    if signal == 0 {
        return None;
    }
    let left = state().left;
    tell(program, left);
    u8::try_from(128 + signal).ok()
}

/// Sets the message on the state that a stopped run leaves: "the store is as it was".
pub fn leaves(left: &'static str) {
    state().left = left;
}

/// Delays the exit on a signal until the result is dropped.
///
/// # Errors
///
/// If a signal has arrived already.
pub fn hold() -> Result<Hold, Interrupted> {
    state().holds += 1;
    let hold = Hold(());
    check().map(|()| hold)
}

/// Work that must end by itself.
#[derive(Debug)]
pub struct Hold(());

impl Drop for Hold {
    fn drop(&mut self) {
        state().holds -= 1;
    }
}

/// A file or a directory tree that is removed if a signal ends the program.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Registers the path.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        state().temporaries.push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        state().temporaries.retain(|path| *path != self.0);
    }
}

/// Removes a file, or a directory that other threads may still be writing to.
#[cfg(unix)]
fn remove(path: &Path) {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        if removed.is_ok() || !path.exists() {
            return;
        }
    }
}

/// Makes a signal call `stop`, on another thread, instead of exiting, until the result is dropped.
///
/// # Errors
///
/// If a signal has arrived already.
pub fn on_interrupt(stop: impl Fn() + Send + 'static) -> Result<Stop, Interrupted> {
    let mut state = state();
    let number = state.next;
    state.next += 1;
    state.stops.push((number, Box::new(stop)));
    drop(state);
    let stop = Stop(number);
    check().map(|()| stop)
}

/// Work that a signal notifies.
#[derive(Debug)]
pub struct Stop(u64);

impl Drop for Stop {
    fn drop(&mut self) {
        state().stops.retain(|(number, _)| *number != self.0);
    }
}

/// The file system, which refuses writes once the user has asked the program to stop.
#[must_use]
pub fn stoppable() -> fpstore::env::Stoppable {
    fpstore::env::Stoppable::new(|| check().map_err(io::Error::other))
}

/// Returns an error once the user has asked the program to stop.
///
/// # Errors
///
/// If a signal has arrived.
pub fn check() -> Result<(), Interrupted> {
    if SIGNAL.load(SeqCst) == 0 { Ok(()) } else { Err(Interrupted) }
}
