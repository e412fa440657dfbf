//! `fpquery`: finds the stored fingerprints near given ones.
//!
//! Queries come from the command line, a file or an endless pipe. They are read in batches of what is available, each
//! batch is answered on all cores, and answers are written in the order of the queries. The output depends neither on
//! the number of threads nor on the timing of the queries.

mod answer;
mod args;
mod batch;
mod by_id;
mod corpus;
mod keys;
mod latency;
mod memory;
mod queries;
mod question;
mod stats;
mod texts;

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use fpstore::{Filters, Fingerprint, Parameters, Store};
use fpstore_tools::exit::Outcome;
use fpstore_tools::notice;
use fpstore_tools::output::check_apart;
use fpstore_tools::width::by_width;
use fpstore_tools::{allocator, number, program, size};

use crate::answer::{Kind, Look};
use crate::args::{Args, BatchMode};
use crate::batch::Asker;
use crate::memory::Memory;
use crate::queries::Queries;
use crate::question::Question;
use crate::stats::Totals;

/// Most queries of a batch.
const BATCH: usize = 4096;

/// Most queries of a batch that may be merged with the store: more queries are faster.
const MERGED: usize = 1 << 20;

/// Most queries that are answered without prefix filters, by default.
const FEW: usize = 256;

fn main() -> ExitCode {
    program::main("fpquery", |args: Args| run(&args.settled()))
}

fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.memory.is_some() {
        allocator::give_back();
    }
    args.common.start()?;
    let mut read: Vec<&OsStr> = [&args.input, &args.corpus].into_iter().flatten().map(AsRef::as_ref).collect();
    read.extend(args.store.as_ref().map(|store| store.as_os_str()));
    read.extend(args.queries.iter().filter(|_| args.text).map(OsStr::new));
    let rejects = args.texts.leave.rejects.rejects.as_deref();
    check_apart(&[("--output", args.output.as_deref()), ("--rejects", rejects)], &read)?;
    if !args.text {
        args.texts.check_unused()?;
    }
    if let Some(file) = &args.corpus {
        return corpus::run(args, file);
    }
    let Some(store) = &args.store else { bail!("which STORE? see --help for examples") };
    let parameters = fpstore::parameters_of(store, &fpstore_tools::threads::options())?;
    if parameters.keys().is_some() {
        return keys::run(args, store, &parameters);
    }
    if args.min_shared.is_some() || args.min_jaccard.is_some() {
        bail!("--min-shared and --min-jaccard are for a key index; this store is of fingerprints");
    }
    args.check_distance(parameters.width())?;
    by_width!(parameters.width(), F => answer::<F>(args, store, &parameters))
}

/// Answers all queries.
fn answer<F: Fingerprint>(args: &Args, store: &Path, parameters: &Parameters) -> anyhow::Result<Outcome> {
    let mut queries = if !args.ids.is_empty() {
        Queries::of_records(by_id::queries::<F>(args, store, parameters)?)
    } else if args.text {
        Queries::of_texts(args, parameters)?
    } else {
        Queries::new(args, &args.options)?
    };
    let question = Question::new(args, parameters.max_distance());
    let merging = merging_distance(args, &question)?.filter(|_| args.batch == BatchMode::Always || queries.all_there());
    let mut later = args.filter.is_none();
    let filters = args.filter.map_or(Filters::Off, Filters::from);
    let mut options = args.reading().with_filters(filters);
    if let Some(bytes) = Memory::filters(args.memory, args.filter_memory) {
        options = options.with_filter_memory(bytes);
    }
    let store = Store::<F>::open_read_only(store, &options)?;
    queries.check_hasher(parameters.hasher())?;
    if args.not_self {
        queries.need_ids(parameters.ids())?;
    }
    let filtering = store.filter_statistics();
    let filters_take = filtering.wanted_bytes - filtering.refused_bytes;
    let taken = (store.statistics().resident_bytes + filters_take).saturating_add(args.page_cache());
    let memory = Memory::beside(args.memory, args.document_memory(), store.path(), taken)?;
    warn_of_wide_radius(args, &question, &store);
    if filters != Filters::Off {
        warn_of_missing_filters(args, &store);
    }

    let mut totals = Totals::default();
    let (mut opened, mut asked) = (None, 0);
    loop {
        let (batch, end) = queries.next_batch(if merging.is_some() { MERGED } else { BATCH }, memory.queries);
        let merges = |k: &u32| {
            args.batch == BatchMode::Always
                || store.searcher().batch_strategy(batch.len(), *k) == fpstore::BatchStrategy::Always
        };
        let merged = merging.filter(merges);
        asked += batch.len();
        // Merging needs no filters, and they would take longer than a few queries without them.
        if later && merged.is_none() && asked > FEW {
            later = false;
            store.make_filters(Filters::Background);
            warn_of_missing_filters(args, &store);
        }
        let (look, out) = match &mut opened {
            Some(opened) => opened,
            none => none.insert(Look::open(args, parameters.ids(), batch.first(), queries.header())?),
        };
        look.check(&batch)?;
        let asker = Asker { store: &store, question, look: *look, memory, timed: args.stats };
        match merged {
            Some(k) => asker.merge(k, &batch, out, &mut totals)?,
            None => asker.answer(&batch, out, &mut totals)?,
        }
        match end {
            None => {}
            Some(Ok(())) => break,
            Some(Err(error)) => return Err(error),
        }
    }
    let mut found = totals.matches > 0;
    if let Some((look, out)) = opened {
        look.finish(out, totals.unseen)?;
        found = if look.kind == Kind::Unseen { totals.unseen > 0 } else { found };
    }
    queries.warn_of_numbered(args);
    if args.stats {
        totals.filters = store.filter_statistics();
        totals.report(&mut io::stderr().lock(), args.common.json)?;
    }
    Ok(if found { Outcome::Done } else { Outcome::NothingFound })
}

/// Returns the distance within which queries may be merged with the store, if they may.
fn merging_distance(args: &Args, question: &Question) -> anyhow::Result<Option<u32>> {
    match (args.batch, question.of_a_batch()) {
        (BatchMode::Never, _) => Ok(None),
        (BatchMode::Always, None) => bail!("--batch always goes with neither --first nor --nearest nor --scan"),
        (_, distance) => Ok(distance),
    }
}

/// Warns of filters that do not fit their memory, and of filters that could not be built.
fn warn_of_missing_filters<F: Fingerprint>(args: &Args, store: &Store<F>) {
    let filters = store.filter_statistics();
    if filters.refused_bytes > 0 && !args.scan {
        let [wanted, refused, budget] =
            [filters.wanted_bytes, filters.refused_bytes, filters.budget_bytes].map(number::bytes);
        let remedy = match args.memory {
            // Half of the memory is for filters.
            Some(_) => format!("--memory {}", size::at_least(2 * filters.wanted_bytes + (64 << 20))),
            None => format!("--filter-memory {}", size::at_least(filters.wanted_bytes)),
        };
        notice::warn(format_args!(
            "prefix filters take {wanted} and may take {budget}: {refused} are left out, so queries read more \
                 blocks; {remedy} allows all"
        ));
    }
    if filters.failed_bytes > 0 {
        let failed = number::bytes(filters.failed_bytes);
        notice::warn(format_args!(
            "{failed} of prefix filters could not be built, for lack of memory or because a table cannot be read; \
                 `fpdump verify` checks the store"
        ));
    }
}

fn warn_of_wide_radius<F: Fingerprint>(args: &Args, question: &Question, store: &Store<F>) {
    let designed = store.parameters().max_distance();
    if let Some(k) = question.distance().filter(|k| *k > designed && !args.scan) {
        notice::warn(format_args!(
            "distance {k} is beyond the {designed} that the store was made for; answers are complete, but slow"
        ));
    }
}
