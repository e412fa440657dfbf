//! How a program ends: 0 = done or found, 1 = nothing found or damage found, 2 = wrong use, bad input, I/O error, 128 +
//! the signal's number = stopped by it (130 by Ctrl-C).
//!
//! A reader that has seen enough (`fpquery ... | head`) closes the pipe: that is success, and silent. Wrong use found
//! by clap itself exits with 2 as well.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::interrupt;

/// How a program that worked ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0: done, or something was found.
    Done,
    /// Exit code 1: nothing was found.
    NothingFound,
    /// Exit code 1: bytes on disk are damaged.
    Damaged,
}

/// Turns the result of a program into its exit code and says on standard error what went wrong.
pub fn finish(program: &str, result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NothingFound | Outcome::Damaged) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // What fails once a signal has come fails for that.
            if let Some(code) = interrupt::stopped(program) {
                return ExitCode::from(code);
            }
            // Nobody to tell if standard error is gone; the exit code still says it.
            let _ = writeln!(io::stderr().lock(), "{program}: {}", describe(&error));
            ExitCode::from(2)
        }
    }
}

/// Only standard output can be a pipe whose reader goes away: stores and inputs are files, or read.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The error and its causes on one line; a cause whose text has been quoted already is not repeated. Errors of reading
/// name the input; one of the operating system that names nothing is the output's.
fn describe(error: &anyhow::Error) -> String {
    // Not one that reading has put into a context.
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
