//! How every program begins and ends.

use std::process::ExitCode;

use clap::Parser;

use crate::exit::{Outcome, finish};
use crate::generate;

/// The `main` of a program by this name: does what its arguments say, or answers `--generate` ([`generate`]).
pub fn main<A: Parser>(name: &str, run: impl FnOnce(A) -> anyhow::Result<Outcome>) -> ExitCode {
    match generate::requested::<A>(name) {
        Some(code) => code,
        None => finish(name, run(A::parse())),
    }
}
