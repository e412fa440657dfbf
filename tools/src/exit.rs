//! Exit codes: 0 = done or found, 1 = nothing found or damage found, 2 = wrong use, bad input, I/O error, 128 + the
//! signal's number = stopped by a signal (130 by Ctrl-C).
//!
//! A reader that has seen enough (`fpquery ... | head`) closes the pipe: that is success, without a message. For wrong
//! use that clap finds, clap exits with 2.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::interrupt;

/// Result of a program without errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0: done, or something was found.
    Done,
    /// Exit code 1: nothing was found.
    NothingFound,
    /// Exit code 1: bytes on disk are damaged.
    Damaged,
}

/// Turns the result of a program into its exit code, and writes an error to standard error.
pub fn finish(program: &str, result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NothingFound | Outcome::Damaged) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // An error after a signal is a consequence of the signal.
            if let Some(code) = interrupt::stopped(program) {
                return ExitCode::from(code);
            }
            // If standard error is closed, only the exit code reports the error.
            let _ = writeln!(io::stderr().lock(), "{program}: {}", describe(&error));
            ExitCode::from(2)
        }
    }
}

/// Only standard output can be a pipe that its reader closes; stores are files, and inputs are only read.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Joins the error and its causes on one line, without a cause whose text is there already. Errors of reading name the
/// input; an error of the operating system without context comes from writing the output.
fn describe(error: &anyhow::Error) -> String {
    // Errors of reading have a context.
    let bare = error.chain().next().is_some_and(|first| first.is::<io::Error>());
    let mut text = if bare { "cannot write the output".to_owned() } else { String::new() };
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_closed_pipe_is_success_wherever_it_stands_in_the_chain() {
        let broken = io::Error::from(io::ErrorKind::BrokenPipe);
        let error = Err::<(), _>(broken).context("writing the answer").unwrap_err();
        assert!(is_broken_pipe(&error));
        let other = anyhow::Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert!(!is_broken_pipe(&other));
    }

    #[test]
    fn a_quoted_cause_is_said_once() {
        let inner = anyhow::anyhow!("no space");
        let error = inner.context("writing failed: no space").context("fpload");
        assert_eq!(describe(&error), "fpload: writing failed: no space");
        let full = anyhow::Error::from(io::Error::other("disk full"));
        assert_eq!(describe(&full), "cannot write the output: disk full");
        let input = Err::<(), _>(io::Error::other("gone")).context("a.tsv").unwrap_err();
        assert_eq!(describe(&input), "a.tsv: gone");
    }
}
