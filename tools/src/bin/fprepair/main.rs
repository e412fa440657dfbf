//! `fprepair`: saves the sound records of a damaged store, and lists the lost ones.
//!
//! Without `--yes` it only reports what it would do. Reports go to standard output, for people or, with `--json`, for
//! programs.

mod args;
mod people;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;

use fpstore::repair::RepairReport;
use fpstore_tools::exit::Outcome;
use fpstore_tools::progress::Progress;
use fpstore_tools::{allocator, interrupt, memory, program, repair_json};

use crate::args::Args;

fn main() -> ExitCode {
    program::main("fprepair", |args| run(&args))
}

fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.memory.is_some() {
        allocator::give_back();
    }
    args.common.start()?;
    let options = fpstore_tools::threads::options()
        .with_load_memory(memory::of_load(args.memory))
        .with_temp_dir(args.tmp_dir.as_deref());
    let options = options.with_env(Arc::new(interrupt::stoppable()));
    interrupt::leaves("the store is as it was");
    // The library removes the files that it has begun.
    let hold = args.yes.then(interrupt::hold).transpose()?;
    let shows = args.common.shows_progress();
    let progress = if shows { Progress::spinner("reading every byte") } else { Progress::hidden() };
    let report = if args.yes {
        fpstore::repair::repair(&args.store, &options)
    } else {
        fpstore::repair::plan(&args.store, &options)
    }?;
    drop(hold);
    // Only the report remains.
    interrupt::leaves(if args.yes { "the store is repaired, its report is not complete" } else { "" });
    progress.finish();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    if args.common.json {
        repair_json::write(&args.store, args.yes, &report, &mut out)?;
    } else {
        people::write(&args.store, args.yes, args.common.quiet, &report, &mut out)?;
    }
    out.flush()?;
    Ok(outcome(args.yes, &report))
}

/// Remaining damage, or data that could not be saved, is exit code 1.
fn outcome(done: bool, report: &RepairReport) -> Outcome {
    let is_well = if done { report.saves_everything() } else { report.is_sound() };
    if is_well { Outcome::Done } else { Outcome::Damaged }
}
