//! `fpdump`: looks inside a store or one of its files, and never writes.
//!
//! There is a file for each subcommand. Reports go to standard output, for people or, with `--json`, for programs; both
//! have the same figures.

mod args;
mod block;
mod blocks;
mod distributions;
mod draw;
mod get;
mod hex;
mod info;
mod layout;
mod manifest;
mod opened;
mod plan;
mod scan;
mod scan_keys;
mod stats;
mod verify;
mod wal;
mod what_if;

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use fpstore_tools::exit::Outcome;
use fpstore_tools::program;
use fpstore_tools::width::by_width;

use crate::args::{Args, What};

fn main() -> ExitCode {
    program::main("fpdump", |args| run(&args))
}

fn run(args: &Args) -> anyhow::Result<Outcome> {
    args.common.start()?;
    let json = args.common.json;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let outcome = match &args.what {
        What::Info { path } if opened::is_manifest(path) => info::manifest(path, json, &mut out),
        What::Info { path } => info::run(path, json, &mut out),
        What::Stats { path, draw } => stats::run(path, *draw, args.common, &mut out),
        What::Layout { path } => layout::run(path, json, &mut out),
        What::Blocks { path, table } => blocks::run(path, *table, json, &mut out),
        What::Block { number, path, table } => block::run(path, *table, *number, json, &mut out),
        What::Scan { path, output } => scan::run(path, output.as_deref(), json),
        What::Get { first, id: Some(id), .. } => get::run_id(Path::new(first), id, args.common),
        What::Get { first, path, .. } => {
            let (fingerprint, path) = (first.to_string_lossy(), path.as_deref().unwrap_or(Path::new("")));
            get::run(path, &fingerprint, json)
        }
        What::Verify { path } => verify::run(path, args.common, &mut out),
        What::Plan { path } => plan::run(path, json, &mut out),
        What::Alternatives { path, wanted } => what_if::run(path, wanted, args.common, &mut out),
        What::Hex { path } => hex::run(path, json, &mut out),
        What::Manifest { path } => manifest::run(path, json, &mut out),
        What::Wal { path, operations } => {
            by_width!(wal::width(path)?, F => wal::run::<F>(path, *operations, args.common, &mut out))
        }
    }?;
    out.flush()?;
    Ok(outcome)
}
