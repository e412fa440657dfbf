//! `fpring`: the nodes of a sharded store on a consistent-hash ring.
//!
//! There is a file for each group of subcommands. The package `fpring` places keys on nodes and reads and writes ring
//! files; `fpstore_tools::sharded` moves records.

mod args;
mod change;
mod diff;
mod locate;
mod node_argument;
mod rebalance;
mod report;

use std::process::ExitCode;

use fpstore_tools::exit::Outcome;
use fpstore_tools::{allocator, program};

use crate::args::{Args, What};

fn main() -> ExitCode {
    program::main("fpring", |args| run(&args))
}

fn run(args: &Args) -> anyhow::Result<Outcome> {
    if matches!(args.what, What::Rebalance(_)) {
        allocator::give_back();
    }
    args.common.start()?;
    match &args.what {
        What::Create(given) => change::create(args.common, given),
        What::Add(given) => change::add(args.common, given),
        What::Remove { file, nodes } => change::remove(args.common, file, nodes),
        What::Weight { file, nodes } => change::weight(args.common, file, nodes),
        What::Locate { file, keys } => locate::run(args.common, file, keys),
        What::Report(given) => report::run(args.common, given),
        What::Diff { old, new, keys } => diff::run(args.common, old, new, *keys),
        What::Rebalance(given) => rebalance::run(args.common, given),
    }?;
    Ok(Outcome::Done)
}
