//! The load: opens the store, reads all inputs, writes all records.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use fpstore::{ErrorKind, Fingerprint, IdAssignment, Store};
use fpstore_tools::input::Found;
use fpstore_tools::width::by_width;
use fpstore_tools::{interrupt, memory};

use crate::args::{Args, StoreKind};
use crate::gather::{Gathered, Inputs, Load};
use crate::summary::Rest;
use crate::summary::fingerprints::{self as summary, Deed, Done};
use crate::writing::{DONE, compact_after_removal, options, save_filters, warn_of_torn_logs};
use crate::{by_id, creation, keys, writing};

/// Default width of a new store's fingerprints.
const WIDTH: u32 = 64;

/// Loads the inputs and writes the report.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Some(path) = args.store.as_deref() else { bail!("which STORE? see --help for examples") };
    if let Some(directory) = &args.tmp_dir {
        // A typing error is reported at once, not only when the directory is needed.
        std::fs::read_dir(directory).with_context(|| format!("--tmp-dir {}", directory.display()))?;
    }
    interrupt::leaves(if args.create { "no store was made" } else { "the store is as it was" });
    if args.create {
        // Found before an hour of reading; creation checks again.
        Store::<u64>::check_vacant(path, &options(args))?;
        if args.kind == Some(StoreKind::Keys) {
            return keys::create(args, path);
        }
        if args.key_bits.is_some() || args.sketch.is_some() || args.bands.any() {
            bail!("--key-bits, --sketch, --bands and the options of signatures go with --kind keys");
        }
        let inputs = Inputs::open(args, None)?;
        let width = args.width.or(inputs.width()).unwrap_or(WIDTH);
        creation::check_options(args, width)?;
        return by_width!(width, F => create::<F>(args, path, inputs));
    }
    if args.inputs.is_empty() && (args.remove || args.replace || !(args.compact || args.id_index || args.save_filters))
    {
        bail!("no INPUT; name files with fingerprints, or - for standard input");
    }
    let parameters = fpstore::parameters_of(path, &options(args)).map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow!("{error} (--create)"),
        _ => error.into(),
    })?;
    if let Some(format) = parameters.keys() {
        return keys::change(args, path, &parameters, format);
    }
    if args.kind == Some(StoreKind::Keys) || args.key_bits.is_some() || args.sketch.is_some() || args.bands.any() {
        bail!("the store is of fingerprints, not of keys");
    }
    creation::check_options(args, parameters.width())?;
    creation::check_existing(args, &parameters)?;
    by_id::check(args, &parameters)?;
    if args.by_id {
        return by_width!(parameters.width(), F => by_id::remove::<F>(args, path, &parameters));
    }
    if args.id_index && args.inputs.is_empty() {
        return by_width!(parameters.width(), F => by_id::index::<F>(args, path, &parameters));
    }
    let inputs = Inputs::open(args, Some(&parameters))?;
    by_width!(parameters.width(), F => change::<F>(args, path, inputs))
}

fn create<F: Fingerprint>(args: &Args, path: &Path, inputs: Inputs) -> anyhow::Result<()> {
    let started = Instant::now();
    let load = Load { args, path, store: None, options: &options(args) };
    let Gathered { records, rule, hasher, passed_over } = inputs.gather::<F>(load)?;
    let kind = rule.kind().unwrap_or_default();
    let parameters = creation::parameters(args, &records, kind, hasher.name())?;
    if args.dry_run {
        return summary::dry_run(args, path, records.given(), rule.found(), &parameters, &passed_over);
    }
    // The library removes the files that it has begun.
    let _hold = interrupt::hold()?;
    let progress = writing::progress(args);
    let (store, deed) = if args.inputs.is_empty() {
        (Store::<F>::create(path, &parameters, &options(args))?, Deed::Created(None))
    } else {
        let (store, report) = Store::create_loaded(path, &parameters, &options(args), records)?;
        (store, Deed::Created(Some(report)))
    };
    let filters = save_filters(args, &store)?;
    progress.finish();
    interrupt::leaves(DONE);
    let rest = Rest { compacted: None, filters, seconds: started.elapsed().as_secs_f64() };
    summary::done(args, &Done { path, deed, store: &store, passed_over, rest })
}

/// Adds records to a store, removes records, or compacts it.
fn change<F: Fingerprint>(args: &Args, path: &Path, inputs: Inputs) -> anyhow::Result<()> {
    // The store is opened for reading until the input is known to be good: bad input changes nothing, not even the
    // lock.
    let store = Store::<F>::open_read_only(path, &options(args))?;
    let started = Instant::now();
    let parameters = store.parameters().clone();
    let numbering = store.id_assignment();
    // The index is read again for writing; until then memory is for the records.
    drop(store);
    let mut loading = options(args);
    if args.replace {
        by_id::check_replace(numbering)?;
        loading = by_id::half(&loading, memory::of_load(args.memory));
    }
    let load = Load { args, path, store: Some(&parameters), options: &loading };
    let Gathered { records, rule, passed_over, .. } = inputs.gather::<F>(load)?;
    check(args, numbering, rule.found())?;
    if args.dry_run {
        return summary::dry_run(args, path, records.given(), rule.found(), &parameters, &passed_over);
    }
    let _hold = interrupt::hold()?;
    let progress = writing::progress(args);
    let store = Store::<F>::open(path, &options(args))?;
    warn_of_torn_logs(&store);
    let (deed, compacted) = match (args.inputs.is_empty(), args.remove) {
        (true, _) => (Deed::Nothing, if args.compact { Some(store.compact()?) } else { None }),
        // Compaction leaves one segment, even if nothing was removed.
        (false, true) => {
            let report = store.bulk_remove(records)?;
            (Deed::Removed(report), compact_after_removal(args, &store)?)
        }
        (false, false) if args.replace => {
            let (report, compacted) = if args.compact {
                let (report, compacted) = store.bulk_replace_compact(records)?;
                (report, Some(compacted))
            } else {
                (store.bulk_replace(records)?, None)
            };
            by_id::warn_of_several(&report);
            (Deed::Replaced(report), compacted)
        }
        (false, false) if args.compact => {
            let (report, compacted) = store.bulk_load_compact(records)?;
            (Deed::Loaded(report), Some(compacted))
        }
        (false, false) => (Deed::Loaded(store.bulk_load(records)?), None),
    };
    let filters = save_filters(args, &store)?;
    progress.finish();
    interrupt::leaves(DONE);
    let rest = Rest { compacted, filters, seconds: started.elapsed().as_secs_f64() };
    summary::done(args, &Done { path, deed, store: &store, passed_over, rest })
}

/// Rejects what the library would reject after the input was sorted.
fn check(args: &Args, numbering: IdAssignment, found: Option<Found>) -> anyhow::Result<()> {
    match (numbering, found) {
        (_, Some(Found::Numbered)) if args.remove => {
            bail!(
                "the input has no ids; a record is removed by its fingerprint and its id, as `fpdump scan` prints \
                 them; \
                 ids alone, with --by-id"
            )
        }
        (_, Some(Found::Numbered)) if args.replace => {
            bail!("the input has no ids; fingerprints are replaced by the ids of their documents")
        }
        (IdAssignment::Auto, Some(Found::Number)) if !args.remove => {
            bail!("the store numbers its records itself, the input has ids")
        }
        (IdAssignment::Explicit, Some(Found::Numbered)) => {
            bail!("the store has ids that its user gave, the input has none")
        }
        _ => Ok(()),
    }
}
