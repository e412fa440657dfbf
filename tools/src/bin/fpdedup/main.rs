//! `fpdedup`: all against all.
//!
//! There is a file for each subcommand, and `keys.rs` for all of them on key indexes. Stores are opened read-only.
//! Results are written during the work, in a deterministic order; an output file appears when it is complete.

mod args;
mod clusters;
mod copied;
mod documents;
mod job;
mod keep;
mod keys;
mod label_rows;
mod loaded;
mod pairs;
mod priorities;
mod report;
mod rule;
mod search;

use std::ffi::OsStr;
use std::process::ExitCode;

use fpstore_tools::exit::Outcome;
use fpstore_tools::output::check_apart;
use fpstore_tools::width::by_width;
use fpstore_tools::{allocator, program};

use crate::args::{Args, What};
use crate::job::width;

fn main() -> ExitCode {
    program::main("fpdedup", |args| run(&args))
}

fn run(args: &Args) -> anyhow::Result<Outcome> {
    allocator::give_back();
    args.common.start()?;
    check_output(&args.what)?;
    match &args.what {
        What::Pairs { which, options, store } if keys::is_index(store)? => {
            keys::pairs(args.common, *which, options, store)
        }
        What::Pairs { which, options, store } => {
            options.keys.check_unused()?;
            by_width!(width(store)?, F => pairs::pairs::<F>(args.common, *which, options, store))
        }
        What::Join { which, options, input, store, other } if keys::is_index(store)? => {
            keys::join(args.common, *which, options, input, (store, other))
        }
        What::Join { which, options, input, store, other } => {
            options.keys.check_unused()?;
            by_width!(width(store)?, F => pairs::join::<F>(args.common, *which, options, input, store, other))
        }
        What::Clusters { previous, new, min_size, report, order, options, input, store } => {
            let beside = clusters::Beside { previous: previous.as_deref(), new: new.as_deref(), input };
            let what = clusters::What { min_size: *min_size, report, order };
            if keys::is_index(store)? {
                return keys::clusters(args.common, &beside, what, options, store);
            }
            options.keys.check_unused()?;
            by_width!(width(store)?, F => clusters::run::<F>(args.common, &beside, what, options, store))
        }
        What::Documents(given) => documents::run(args.common, given),
        What::Keep { keep, options, input, store } => {
            let beside = clusters::Beside { previous: keep.previous.as_deref(), new: keep.new.as_deref(), input };
            if keys::is_index(store)? {
                return keys::keep(args.common, &beside, keep, options, store);
            }
            options.keys.check_unused()?;
            by_width!(width(store)?, F => keep::run::<F>(args.common, &beside, keep, options, store))
        }
    }
}

/// Rejects outputs that would overwrite an input, except the previous labels or evidence.
fn check_output(what: &What) -> anyhow::Result<()> {
    let (options, store, others) = match what {
        What::Pairs { options, store, .. } => (options, store, vec![]),
        What::Join { options, store, other, .. } => (options, store, vec![other.as_os_str()]),
        What::Clusters { new, order, options, store, .. } => {
            (options, store, new.iter().map(|new| new.as_os_str()).chain([order.keep.as_os_str()]).collect())
        }
        What::Keep { keep, options, store, .. } => {
            (options, store, keep.new.iter().map(|new| new.as_os_str()).chain([keep.order.keep.as_os_str()]).collect())
        }
        // It checks its own.
        What::Documents(_) => return Ok(()),
    };
    let (evidence, report) = match what {
        What::Keep { keep, .. } => (keep.evidence.as_deref(), Some(&keep.report)),
        What::Clusters { report, .. } => (None, Some(report)),
        _ => (None, None),
    };
    let picture = report.and_then(|report| report.picture.as_deref());
    let read: Vec<&OsStr> = others.into_iter().chain([store.as_os_str()]).collect();
    check_apart(&[("--output", options.output.as_deref()), ("--evidence", evidence), ("--picture", picture)], &read)
}
