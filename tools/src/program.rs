//! Start and end of every program.

use std::process::ExitCode;

use clap::Parser;

use crate::exit::{Outcome, finish};
use crate::{generate, help, interrupt, notice};

/// The `main` of the program `name`: runs it with its arguments, or answers `--generate` ([`generate`]).
pub fn main<A: Parser>(name: &'static str, run: impl FnOnce(A) -> anyhow::Result<Outcome>) -> ExitCode {
    notice::of_program(name);
    match generate::requested::<A>(name) {
        Some(code) => code,
        None => {
            let matches = help::fitted(A::command()).get_matches();
            let arguments = A::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
            finish(name, interrupt::listen(name).and_then(|()| run(arguments)))
        }
    }
}
