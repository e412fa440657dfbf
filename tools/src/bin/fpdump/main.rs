//! `fpdump`: looks inside a store or a file of it, and never writes.
//!
//! A file for each subcommand. Reports go to standard output, for people or, with `--json`, for programs; the figures
//! are the same.

mod args;
mod block;
mod blocks;
mod distributions;
mod draw;
mod get;
mod hex;
mod info;
mod layout;
mod opened;
mod plan;
mod scan;
mod stats;
mod verify;
mod what_if;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;
use fpstore_tools::exit::{Outcome, finish};

use crate::args::{Args, What};

const PROGRAM: &str = "fpdump";

fn main() -> ExitCode {
    let args = Args::parse();
    finish(PROGRAM, run(&args))
}

fn run(args: &Args) -> anyhow::Result<Outcome> {
    args.common.start()?;
    let json = args.common.json;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let outcome = match &args.what {
        What::Info { path } => info::run(path, json, &mut out),
        What::Stats { path, draw } => stats::run(path, *draw, args.common, &mut out),
        What::Layout { path } => layout::run(path, json, &mut out),
        What::Blocks { path, table } => blocks::run(path, *table, json, &mut out),
        What::Block { number, path, table } => block::run(path, *table, *number, json, &mut out),
        What::Scan { path } => scan::run(path, json, &mut out),
        What::Get { fingerprint, path } => get::run(path, *fingerprint, json, &mut out),
        What::Verify { path } => verify::run(path, args.common, &mut out),
        What::Plan { path } => plan::run(path, json, &mut out),
        What::Alternatives { path, wanted } => what_if::run(path, wanted, args.common, &mut out),
        What::Hex { path } => hex::run(path, json, &mut out),
    }?;
    out.flush()?;
    Ok(outcome)
}
