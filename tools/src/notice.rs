//! Remarks on standard error that reading gives rise to, wherever in a program it happens.
//!
//! Nothing is said before the program has begun ([`crate::program::main`], [`crate::common::Common::start`]) and nothing with
//! `--quiet`.

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::sync::OnceLock;

static PROGRAM: OnceLock<String> = OnceLock::new();
static LOUD: OnceLock<bool> = OnceLock::new();

/// Names the program.
pub(crate) fn of_program(name: &str) {
    let _ = PROGRAM.set(name.to_owned());
}

/// Says whether remarks are wanted.
pub(crate) fn wanted(loud: bool) {
    let _ = LOUD.set(loud);
}

/// Something that may not be what the user meant.
pub(crate) fn warn(message: impl Display) {
    say(format_args!("warning: {message}"));
}

/// Something that is good to know.
pub(crate) fn say(message: fmt::Arguments<'_>) {
    if let (Some(program), Some(true)) = (PROGRAM.get(), LOUD.get()) {
        // Without standard error there is no place for it.
        let _ = writeln!(io::stderr().lock(), "{program}: {message}");
    }
}
