//! The load itself: open, read all, write all.

use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use fpstore::{Filters, Numbering, Options, Store};
use fpstore_tools::progress::Progress;

use crate::args::Args;
use crate::creation;
use crate::gather::gather;
use crate::summary::{self, Done};

/// Loads, and says what was done.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Some(path) = args.store.as_deref() else { bail!("which STORE? see --help for examples") };
    creation::check_options(args)?;
    if args.create { create(args, path) } else { add(args, path) }
}

fn create(args: &Args, path: &Path) -> anyhow::Result<()> {
    // Found out now rather than after an hour of reading; creation itself finds out again.
    Store::check_vacant(path, &options())?;
    let started = Instant::now();
    let records = gather(args)?;
    let parameters = creation::parameters(args, &records)?;
    if args.dry_run {
        return summary::dry_run(args, path, &records, &parameters);
    }
    let writing = writing(args);
    let (store, report) = if args.inputs.is_empty() {
        (Store::create(path, &parameters, &options())?, None)
    } else {
        let (store, report) = Store::create_loaded(path, &parameters, &options(), records)?;
        (store, Some(report))
    };
    writing.finish();
    summary::done(args, &Done { path, created: true, store: &store, report, seconds: started.elapsed().as_secs_f64() })
}

fn add(args: &Args, path: &Path) -> anyhow::Result<()> {
    if args.inputs.is_empty() {
        bail!("no INPUT; name files with fingerprints, or - for standard input");
    }
    // Open for reading only until all is known to be good: bad input touches nothing, not even the lock.
    let store = Store::open_read_only(path, &options())?;
    creation::check_existing(args, store.parameters())?;
    let started = Instant::now();
    let records = gather(args)?;
    check_ids(records.numbering(), store.numbering())?;
    if args.dry_run {
        return summary::dry_run(args, path, &records, store.parameters());
    }
    drop(store);
    let writing = writing(args);
    let mut store = Store::open(path, &options())?;
    let report = Some(store.bulk_load(records)?);
    writing.finish();
    summary::done(args, &Done { path, created: false, store: &store, report, seconds: started.elapsed().as_secs_f64() })
}

/// What the load itself would refuse, too.
fn check_ids(input: Numbering, store: Numbering) -> anyhow::Result<()> {
    match (store, input) {
        (Numbering::Own, Numbering::Given) => bail!("the store numbers its records itself, the input has ids"),
        (Numbering::Given, Numbering::Own) => bail!("the store has ids that its user gave, the input has none"),
        _ => Ok(()),
    }
}

fn writing(args: &Args) -> Progress {
    if args.common.shows_progress() { Progress::spinner("writing") } else { Progress::hidden() }
}

/// Nobody asks here, so nothing is prepared for it.
fn options() -> Options {
    Options::new().with_filters(Filters::Off)
}
