//! The load itself: open, read all, write all.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use fpstore::{Filters, Fingerprint, Maintenance, Numbering, Options, Store, with_width};
use fpstore_tools::input::Found;
use fpstore_tools::memory;
use fpstore_tools::progress::Progress;

use crate::args::Args;
use crate::creation;
use crate::gather::{Gathered, Inputs};
use crate::summary::{self, Deed, Done};

/// Width of a new store's fingerprints where nobody says it.
const WIDTH: u32 = 64;

/// Loads, and says what was done.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Some(path) = args.store.as_deref() else { bail!("which STORE? see --help for examples") };
    if let Some(directory) = &args.tmp_dir {
        // A typing error shows at once, and not with the first load that needs it.
        std::fs::read_dir(directory).with_context(|| format!("--tmp-dir {}", directory.display()))?;
    }
    if args.create {
        // Found out now rather than after an hour of reading; creation itself finds out again.
        Store::<u64>::check_vacant(path, &options(args))?;
        let inputs = Inputs::open(args, None)?;
        let width = args.width.or(inputs.width()).unwrap_or(WIDTH);
        creation::check_options(args, width)?;
        return with_width!(width, F => create::<F>(args, path, inputs));
    }
    if args.inputs.is_empty() && (args.remove || !args.compact) {
        bail!("no INPUT; name files with fingerprints, or - for standard input");
    }
    let parameters = fpstore::parameters_of(path, &options(args))?;
    creation::check_options(args, parameters.width())?;
    creation::check_existing(args, &parameters)?;
    let inputs = Inputs::open(args, Some(parameters.width()))?;
    with_width!(parameters.width(), F => change::<F>(args, path, inputs))
}

fn create<F: Fingerprint>(args: &Args, path: &Path, inputs: Inputs) -> anyhow::Result<()> {
    let started = Instant::now();
    let Gathered { records, rule, hasher } = inputs.gather::<F>(args, path, None, &options(args))?;
    let kind = rule.kind().unwrap_or_default();
    let parameters = creation::parameters(args, &records, kind, hasher.name())?;
    if args.dry_run {
        return summary::dry_run(args, path, records.given(), rule.found(), &parameters);
    }
    let writing = writing(args);
    let (store, deed) = if args.inputs.is_empty() {
        (Store::<F>::create(path, &parameters, &options(args))?, Deed::Created(None))
    } else {
        let (store, report) = Store::create_loaded(path, &parameters, &options(args), records)?;
        (store, Deed::Created(Some(report)))
    };
    writing.finish();
    summary::done(args, &Done { path, deed, compacted: None, store: &store, seconds: started.elapsed().as_secs_f64() })
}

/// Adds to a store, takes from it, compacts it.
fn change<F: Fingerprint>(args: &Args, path: &Path, inputs: Inputs) -> anyhow::Result<()> {
    // Open for reading only until all is known to be good: bad input touches nothing, not even the lock.
    let store = Store::<F>::open_read_only(path, &options(args))?;
    let started = Instant::now();
    let parameters = store.parameters().clone();
    let numbering = store.numbering();
    // Its index is read again when it is written to; until then memory is for the records.
    drop(store);
    let Gathered { records, rule, .. } = inputs.gather::<F>(args, path, Some(&parameters), &options(args))?;
    check(args, numbering, rule.found())?;
    if args.dry_run {
        return summary::dry_run(args, path, records.given(), rule.found(), &parameters);
    }
    let writing = writing(args);
    let store = Store::<F>::open(path, &options(args))?;
    warn_of_torn_logs(args, &store);
    let (deed, compacted) = match (args.inputs.is_empty(), args.remove) {
        (true, _) => (Deed::Nothing, Some(store.compact()?)),
        // What is left is one segment; where nothing was removed, compacting is all that is done.
        (false, true) => {
            (Deed::Removed(store.bulk_remove(records)?), args.compact.then(|| store.compact()).transpose()?)
        }
        (false, false) if args.compact => {
            let (report, compacted) = store.bulk_load_compact(records)?;
            (Deed::Loaded(report), Some(compacted))
        }
        (false, false) => (Deed::Loaded(store.bulk_load(records)?), None),
    };
    writing.finish();
    summary::done(args, &Done { path, deed, compacted, store: &store, seconds: started.elapsed().as_secs_f64() })
}

/// What the load itself would refuse, too.
fn check(args: &Args, numbering: Numbering, found: Option<Found>) -> anyhow::Result<()> {
    match (numbering, found) {
        (_, Some(Found::Numbered)) if args.remove => {
            bail!(
                "the input has no ids; a record is removed by its fingerprint and its id, as `fpdump scan` prints them"
            )
        }
        (Numbering::Own, Some(Found::Number)) if !args.remove => {
            bail!("the store numbers its records itself, the input has ids")
        }
        (Numbering::Given, Some(Found::Numbered)) => {
            bail!("the store has ids that its user gave, the input has none")
        }
        _ => Ok(()),
    }
}

/// Says what a crash has cut short: nobody was promised it, but it is well to know.
#[expect(clippy::print_stderr, reason = "a warning")]
fn warn_of_torn_logs<F: Fingerprint>(args: &Args, store: &Store<F>) {
    for log in store.recovery().torn.iter().filter(|_| !args.common.quiet) {
        eprintln!(
            "fpload: {}: {} bytes behind byte {} were cut short by a crash and are left out; no acknowledged write was \
             among them",
            log.path.display(),
            log.bytes,
            log.offset
        );
    }
}

fn writing(args: &Args) -> Progress {
    if args.common.shows_progress() { Progress::spinner("writing") } else { Progress::hidden() }
}

/// Nobody asks here, so nothing is prepared for it; and nothing goes on behind the load's back.
pub(crate) fn options(args: &Args) -> Options {
    let documents = if args.texts.text { args.document_memory() } else { 0 };
    Options::new()
        .with_filters(Filters::Off)
        .with_maintenance(Maintenance::Foreground)
        .with_load_memory(memory::of_load(args.memory) - documents)
        .with_temp_dir(args.tmp_dir.as_deref())
}
