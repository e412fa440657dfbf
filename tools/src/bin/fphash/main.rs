//! `fphash`: makes fingerprints and signatures of documents, and examines them.
//!
//! There is a file for each subcommand. The presets are those of the package `fpsketch`; this program reads documents,
//! processes them on all threads, and writes the results in their order.

mod args;
mod bands;
mod compare;
mod health;
mod lines;
mod minhash;
mod presets;
mod simhash;
mod verify;
mod wanted;
mod weights;

use std::process::ExitCode;

use fpstore_tools::exit::Outcome;
use fpstore_tools::{allocator, program};

use crate::args::{Args, What};

fn main() -> ExitCode {
    program::main("fphash", |args| run(&args))
}

fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.what.memory().is_some() {
        allocator::give_back();
    }
    let common = args.common;
    common.start()?;
    match &args.what {
        What::Simhash(what) => simhash::run(what, common),
        What::Minhash(what) => minhash::run(what, common),
        What::Bands(what) => bands::run(what, common),
        What::Compare(what) => compare::run(what, common),
        What::Verify(what) => verify::run(what, common),
        What::Weights(what) => weights::run(what, common),
        What::Health(what) => health::run(what, common),
        What::Presets => presets::run(common.json),
    }
}
