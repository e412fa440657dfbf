//! Messages of all parts of a program on standard error: warnings, remarks, closing lines.
//!
//! They are written only after the program has begun ([`crate::program::main`], [`crate::common::Common::start`]), and
//! never with `--quiet`.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;

static PROGRAM: OnceLock<String> = OnceLock::new();
static LOUD: OnceLock<bool> = OnceLock::new();

/// Names the program.
pub(crate) fn of_program(name: &str) {
    let _ = PROGRAM.set(name.to_owned());
}

/// Sets whether messages are written.
pub(crate) fn wanted(loud: bool) {
    let _ = LOUD.set(loud);
}

/// Writes a warning: something that the user may not have meant.
pub fn warn(message: impl Display) {
    say(format_args!("warning: {message}"));
}

/// Writes a remark.
pub fn say(message: impl Display) {
    if LOUD.get() == Some(&true) {
        answer(message);
    }
}

/// Writes a message that is part of the answer, with `--quiet` too.
pub fn answer(message: impl Display) {
    if let Some(program) = PROGRAM.get() {
        // A closed standard error leaves no place for the message.
        let _ = writeln!(io::stderr().lock(), "{program}: {message}");
    }
}
