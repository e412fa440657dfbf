//! `fphash`: documents to fingerprints and signatures, and what there is to know about these.
//!
//! A file for each subcommand. The definitions are those of the package `fpsketch`; here documents are read, on all
//! threads something is made of them, and it is written in their order.

mod args;
mod bands;
mod compare;
mod health;
mod lines;
mod minhash;
mod presets;
mod signatures;
mod simhash;
mod weights;

use std::process::ExitCode;

use clap::Parser;
use fpstore_tools::exit::{Outcome, finish};
use fpstore_tools::{allocator, generate};

use crate::args::{Args, What};

const PROGRAM: &str = "fphash";

fn main() -> ExitCode {
    if let Some(code) = generate::requested::<Args>(PROGRAM) {
        return code;
    }
    let args = Args::parse();
    finish(PROGRAM, run(&args))
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
        What::Weights(what) => weights::run(what, common),
        What::Health(what) => health::run(what, common),
        What::Presets => presets::run(common.json),
    }
}
