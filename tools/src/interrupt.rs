//! Signals that ask a program to end: Ctrl-C (SIGINT), SIGTERM, SIGHUP.
//!
//! A thread waits for them. Where nothing has to be tidied up but files that are known here ([`Temporary`]), it removes these
//! and ends the program, even if the work waits for input. While work goes on that has to end by itself ([`hold`],
//! [`on_interrupt`]), the signal only tells it to; a second one ends the program all the same. The exit code is what a shell
//! reports of a program that the signal has ended: 130, 143, 129.
//!
//! Signals that the caller has the program ignore, as `nohup` does, stay ignored.

use std::error::Error;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first signal that came; 0 if none did.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static STATE: Mutex<State> =
    Mutex::new(State { holds: 0, stops: Vec::new(), next: 0, temporaries: Vec::new(), left: "" });

struct State {
    /// Pieces of work that have to end by themselves.
    holds: usize,
    /// What tells work to end, each with its number.
    stops: Vec<(u64, Box<dyn Fn() + Send>)>,
    /// Number of the next of these.
    next: u64,
    /// What is removed at the end.
    temporaries: Vec<PathBuf>,
    /// What is left by a run that is stopped, for its user.
    left: &'static str,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The user wants the program to end.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped")
    }
}

impl Error for Interrupted {}

/// From now on signals end the program in this way.
///
/// # Errors
///
/// When the system does not let the program know.
#[cfg(unix)]
pub fn listen(program: &'static str) -> anyhow::Result<()> {
    use anyhow::Context;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let signals = signal_hook::iterator::Signals::new(wanted);
    let mut signals = signals.context("cannot be told of signals")?;
    let wait = move || signals.forever().for_each(|signal| received(program, signal));
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).context("cannot be told of signals")?;
    Ok(())
}

/// From now on signals end the program in this way: here it is the system's.
///
/// # Errors
///
/// None.
#[cfg(not(unix))]
pub fn listen(_: &'static str) -> anyhow::Result<()> {
    Ok(())
}

/// The signals that the program was started to ignore, a bit each, where the system tells it.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// A signal has come.
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
    process::exit(128 + signal);
}

/// Says that the program was stopped.
fn tell(program: &str, left: &str) {
    let mut error = io::stderr().lock();
    // Behind what a terminal shows of the key, or of how far the work was.
    let begin = if error.is_terminal() { "\n" } else { "" };
    let separator = if left.is_empty() { "" } else { "; " };
    // If standard error is gone, it cannot be told.
    let _ = writeln!(error, "{begin}{program}: stopped{separator}{left}");
}

/// Says so for a program that a signal has made fail, and gives its exit code; none if no signal has come.
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

/// What a run that is stopped leaves, for its user: "the store is as it was".
pub fn leaves(left: &'static str) {
    state().left = left;
}

/// Has a signal tell the work to end, instead of ending the program, until the result is dropped.
///
/// # Errors
///
/// When one has come already.
pub fn hold() -> Result<Hold, Interrupted> {
    state().holds += 1;
    let hold = Hold(());
    check().map(|()| hold)
}

/// Work that has to end by itself.
#[derive(Debug)]
pub struct Hold(());

impl Drop for Hold {
    fn drop(&mut self) {
        state().holds -= 1;
    }
}

/// A file, or a directory with all that is in it, that goes if a signal ends the program.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Has it go.
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

/// Removes a file or a directory into which other threads may still write.
fn remove(path: &Path) {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        if removed.is_ok() || !path.exists() {
            return;
        }
    }
}

/// Has a signal call `stop`, on another thread, instead of ending the program, until the result is dropped.
///
/// # Errors
///
/// When one has come already.
pub fn on_interrupt(stop: impl Fn() + Send + 'static) -> Result<Stop, Interrupted> {
    let mut state = state();
    let number = state.next;
    state.next += 1;
    state.stops.push((number, Box::new(stop)));
    drop(state);
    let stop = Stop(number);
    check().map(|()| stop)
}

/// Work that is told to end.
#[derive(Debug)]
pub struct Stop(u64);

impl Drop for Stop {
    fn drop(&mut self) {
        state().stops.retain(|(number, _)| *number != self.0);
    }
}

/// As long as the user does not want the program to end.
///
/// # Errors
///
/// When that is so.
pub fn check() -> Result<(), Interrupted> {
    if SIGNAL.load(SeqCst) == 0 { Ok(()) } else { Err(Interrupted) }
}
