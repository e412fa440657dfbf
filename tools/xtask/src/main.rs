//! Tasks of the project: `cargo xtask demo` shows the store at work, `cargo xtask test` runs every test.
//!
//! The alias is in `.cargo/config.toml`. Each task is one module; `workspace` asks cargo for paths.

mod bench;
mod crash;
mod demo;
mod generate;
mod options;
mod platforms;
mod python;
mod say;
mod test;
mod timings;
mod torture;
mod workspace;

use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  demo   build the programs, load the sample in tests/data, query all its records,
         show the near-duplicate documents, the store's statistics and the times
  test [--long] [--again]
         run every test: unit, integration and documentation tests, examples;
         with --long all points of the sweeps, benches in test mode, power failures of recorded processes,
         packages and other platforms;
         with --again also the steps that passed before and for which nothing has changed since
  bench [--quick]
         measure the first table of BENCHMARKS.md beside peers, and draw it: some half an hour, and 40 GB of disk;
         with --quick only its first two columns, each once. Needs python3 and PyPI
  python [--interpreter PYTHON]... [--wheels DIR]
         build the wheel and the source distribution of the package for Python in target/python/wheels, install the
         wheel in empty environments, and test it there; with other interpreters too, and for a free-threaded one
         build a wheel of its own. With --wheels test those of a directory, and build none
  generate
         write man pages and shell completions of all programs to target/share
  torture [--kills N] [--interrupts N] [--disks N] [--records N] [--seed N] [--programs DIR] [--dir DIR]
         kill loads of millions of records, interrupt them, or fill their disk; check that each is all or nothing.
         By default 100 kills, 20 interrupts and 20 full disks (which need root)
  crash [--states N] [--seed N]
         record the system calls of processes that write to stores, and check N states (default 10000)
         that a power failure may leave. Needs Linux and a C compiler
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["help" | "--help" | "-h"] | [_, "--help" | "-h"] => {
            io::stdout().write_all(USAGE.as_bytes()).map_err(Into::into)
        }
        ["demo"] => demo::run(),
        ["generate"] => generate::run(),
        ["bench"] => bench::run(false),
        ["bench", "--quick"] => bench::run(true),
        ["test", options @ ..] if options.iter().all(|option| ["--long", "--again"].contains(option)) => {
            test::run(options.contains(&"--long"), options.contains(&"--again"))
        }
        ["python", options @ ..] if options.first().is_none_or(|option| option.starts_with("--")) => {
            python::run(options)
        }
        ["python", check, programs] => python::check(check, Path::new(programs)),
        ["crash", options @ ..] => crash::run(options),
        ["torture", options @ ..] => torture::run(options),
        _ => {
            complain(USAGE);
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has seen enough (`cargo xtask demo | head`).
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

/// Writes to standard error and ignores errors.
fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
