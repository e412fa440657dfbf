//! The project's chores: `cargo xtask demo` shows what the store does, `cargo xtask test` runs every test.
//!
//! The alias is in `.cargo/config.toml`. Each chore is one module; `workspace` asks cargo where things are.

mod demo;
mod test;
mod workspace;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  demo   build the programs, load the sample in tests/data, query every record of it,
         show the near-duplicate documents, the store's statistics and the times
  test   run every test: unit, integration and documentation tests, benches in test mode, examples
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["demo"] => demo::run(),
        ["test"] => test::run(),
        ["help" | "--help" | "-h"] => io::stdout().write_all(USAGE.as_bytes()).map_err(Into::into),
        _ => {
            complain(USAGE);
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough (`cargo xtask demo | head`).
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("xtask: {error:#}\n"));
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes to standard error; if even that fails there is nobody left to tell.
fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
