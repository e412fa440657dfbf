//! `fpload`: loads fingerprints into a store, all or nothing.
//!
//! Every input is read to its end and checked before a byte is written. After an error, a signal or a kill the store is
//! as before; a store that was to be created does not exist.

mod args;
mod by_id;
mod choice;
mod creation;
mod gather;
mod hasher;
mod keys;
mod load;
mod plan_list;
mod summary;
mod writing;

use std::process::ExitCode;

use fpstore_tools::exit::Outcome;
use fpstore_tools::{allocator, program};

use crate::args::Args;
use crate::choice::PlanChoice;

fn main() -> ExitCode {
    program::main("fpload", |args| run(&args))
}

fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.memory.is_some() {
        allocator::give_back();
    }
    args.common.start()?;
    if args.plan == Some(PlanChoice::List) {
        plan_list::run(args)?;
    } else {
        load::run(args)?;
    }
    Ok(Outcome::Done)
}
