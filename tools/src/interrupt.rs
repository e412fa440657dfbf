//! Ctrl-C: the work is told to stop, so that what it has begun is tidied up. A second one ends the program at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::Context;

/// What a shell reports of a program that SIGINT has ended.
pub const EXIT_CODE: u8 = 130;

/// Calls `stop`, on another thread, when the user wants the program to end.
///
/// # Errors
///
/// When the system does not let the program know.
pub fn on_interrupt(stop: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let handler = move || {
        if ASKED.swap(true, Relaxed) {
            process::exit(EXIT_CODE.into());
        }
        stop();
    };
    ctrlc::set_handler(handler).context("cannot be told of Ctrl-C")
}
