//! Removes records by ids alone, replaces the records of ids, and adds an index of ids to an existing store.

use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use fpstore::bulk::{IdSorter, RemoveIdsReport, ReplaceReport};
use fpstore::{Fingerprint, IdAssignment, IdKind, Options, Parameters, Store};
use fpstore_tools::input::{IdReader, IdRule, Ids, InputOptions, sources};
use fpstore_tools::interrupt;
use fpstore_tools::notice;
use fpstore_tools::number::count_of;
use fpstore_tools::progress::Progress;

use crate::args::Args;
use crate::gather::PassedOver;
use crate::summary::Rest;
use crate::summary::fingerprints::{self as summary, Deed, Done};
use crate::writing::{self, DONE, compact_after_removal, options, save_filters, warn_of_torn_logs};

/// Rejects options that do not fit the store's ids, before any input is read.
pub(crate) fn check(args: &Args, parameters: &Parameters) -> anyhow::Result<()> {
    if (args.by_id || args.replace || args.id_index) && parameters.ids() == IdKind::None {
        bail!("the store has no ids: its records differ in their fingerprints alone");
    }
    if args.by_id {
        args.options.check_without_fingerprints("with --by-id ids alone are read; name their column by --id-column")?;
    }
    if args.id_index && !parameters.id_index() && !args.inputs.is_empty() {
        bail!(
            "the store has no index of its ids; make one first, by `fpload --id-index {}` without inputs",
            args.store.as_deref().unwrap_or(Path::new("STORE")).display()
        );
    }
    Ok(())
}

/// Rejects replacing in a store that numbers its records.
pub(crate) fn check_replace(numbering: IdAssignment) -> anyhow::Result<()> {
    if numbering == IdAssignment::Auto {
        bail!(
            "the store numbers its records itself, so no id names a document; create one from records with ids to \
             replace in it"
        );
    }
    Ok(())
}

/// Returns options with half of the memory; the other half holds the records of the ids.
pub(crate) fn half(options: &Options, memory: u64) -> Options {
    options.clone().with_load_memory(memory / 2)
}

/// Removes all records of the ids in the inputs.
pub(crate) fn remove<F: Fingerprint>(args: &Args, path: &Path, parameters: &Parameters) -> anyhow::Result<()> {
    let started = Instant::now();
    let described = InputOptions { temp_dir: args.temp_dir(), ..args.options.clone() };
    let sources = sources(&args.inputs, &described)?;
    sources.iter().try_for_each(|source| described.format_of(source).map(drop))?;
    let progress = if args.common.shows_progress() { Progress::bytes(None) } else { Progress::hidden() };
    let mut rule = IdRule::new(Ids::Is(parameters.ids()));
    let mut sorter = IdSorter::new(path, &options(args));
    for source in &sources {
        progress.message(format!("reading {}", source.name()));
        IdReader::open(source, &described, &progress)?.each(&mut rule, |id| Ok(sorter.push(id)?))?;
    }
    let ids = sorter.finish()?;
    progress.finish();
    if args.dry_run {
        return summary::dry_run(args, path, ids.given(), rule.found(), parameters, &PassedOver::default());
    }
    let _hold = interrupt::hold()?;
    let progress = writing::progress(args);
    let store = Store::<F>::open(path, &options(args))?;
    warn_of_torn_logs(&store);
    let report = store.bulk_remove_ids(&ids)?;
    let compacted = compact_after_removal(args, &store)?;
    let filters = save_filters(args, &store)?;
    progress.finish();
    interrupt::leaves(DONE);
    warn_of_unknown(&report);
    let deed = Deed::RemovedIds(report);
    let rest = Rest { compacted, filters, seconds: started.elapsed().as_secs_f64() };
    summary::done(args, &Done { path, deed, store: &store, passed_over: PassedOver::default(), rest })
}

/// Adds an index of ids to an existing store.
pub(crate) fn index<F: Fingerprint>(args: &Args, path: &Path, parameters: &Parameters) -> anyhow::Result<()> {
    let started = Instant::now();
    if args.dry_run {
        return summary::dry_run(args, path, 0, None, parameters, &PassedOver::default());
    }
    let _hold = interrupt::hold()?;
    let progress = writing::progress(args);
    let is_new = fpstore::admin::add_id_index(path, &options(args))?;
    let store = Store::<F>::open(path, &options(args))?;
    let compacted = if args.compact && !is_new { Some(store.compact()?) } else { None };
    let filters = save_filters(args, &store)?;
    progress.finish();
    interrupt::leaves(DONE);
    let deed = Deed::Indexed(is_new);
    let rest = Rest { compacted, filters, seconds: started.elapsed().as_secs_f64() };
    summary::done(args, &Done { path, deed, store: &store, passed_over: PassedOver::default(), rest })
}

fn warn_of_unknown(report: &RemoveIdsReport) {
    let [first, others @ ..] = report.unknown_ids.as_slice() else { return };
    let mut named = format!("'{first}'");
    others.iter().for_each(|id| named.push_str(&format!(", '{id}'")));
    let more = if report.unknown > report.unknown_ids.len() as u64 { ", ..." } else { "" };
    let ids = count_of(report.unknown, "id");
    notice::warn(format_args!("not found: {ids} of the input: {named}{more}"));
}

/// Warns that an id occurs with several fingerprints, which may not be intended.
pub(crate) fn warn_of_several(report: &ReplaceReport) {
    if report.several > 0 {
        let several = count_of(report.several, "record");
        notice::warn(format_args!(
            "{several} of an id with several fingerprints in the input; the store has all of them now"
        ));
    }
}
