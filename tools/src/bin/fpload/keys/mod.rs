//! Loads of key indexes: records with keys instead of fingerprints.

mod gathered;
mod texts;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};
use fpstore::bulk::{IdSorter, SortedIds};
use fpstore::keys::{KeySorter, SortedKeys};
use fpstore::{IdKind, KeyFormat, KeyIndex, Parameters};
use fpstore_tools::documents::LeftOut;
use fpstore_tools::input::{IdReader, IdRule, Ids, InputOptions, KeyReader, sources};
use fpstore_tools::interrupt;
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching::BandMaker;

use crate::args::{Args, StoreKind};
use crate::creation::{agree, wanted_ids};
use crate::hasher::Hasher;
use crate::summary::Rest;
use crate::summary::keys::{self as summary, Deed};
use crate::writing::{self, DONE, options};
use gathered::Gathered;

/// What the options say about the format of a new index.
fn format(args: &Args) -> KeyFormat {
    let format = KeyFormat::default();
    let format = args.key_bits.map_or(format, |bits| format.with_key_bits(bits));
    args.sketch.map_or(format, |bits| format.with_sketch(bits, 1))
}

/// Rejects options that no key index has, before any input is read.
fn check(args: &Args) -> anyhow::Result<()> {
    let refused = [
        (args.width.is_some(), "--width"),
        (args.max_distance.is_some(), "--max-distance"),
        (args.plan.is_some(), "--plan"),
        (args.codec.is_some(), "--codec"),
        (args.records.is_some(), "--records"),
        (args.save_filters, "--save-filters"),
    ];
    if let Some((_, option)) = refused.into_iter().find(|(given, _)| *given) {
        bail!("{option} does not go with keys");
    }
    if args.text {
        let simhash = &args.texts.simhash;
        if simhash.weights.is_some() || simhash.stop_words.is_some() || simhash.like.is_some() {
            bail!("--weights, --stop-words and --like are for fingerprints; keys are made of distinct features");
        }
    } else {
        args.texts.check_unused()?;
        if args.bands.any() {
            bail!("--bands and the options of signatures go with --text");
        }
    }
    Parameters::of_keys(KeyFormat::default()).with_hasher(args.hasher.as_deref()).check().context("--hasher")
}

/// Creates a key index.
pub(crate) fn create(args: &Args, path: &Path) -> anyhow::Result<()> {
    check(args)?;
    let started = Instant::now();
    let maker = if args.text { Some(maker(args, args.sketch.unwrap_or(0))?) } else { None };
    let format = maker.as_ref().map_or(format(args), |maker| maker.format(format(args)));
    format.check()?;
    let Gathered { records, rule, hasher, left_out } = match maker {
        Some(maker) => texts::gather(args, path, format, &maker, wanted_ids(args), None)?,
        None => gather(args, path, format, wanted_ids(args), None)?,
    };
    let parameters = Parameters::of_keys(format)
        .with_ids(rule.kind().unwrap_or_default())
        .with_id_index(args.id_index)
        .with_block_size(args.block_size.unwrap_or(Parameters::BLOCK_SIZE))
        .with_hasher(hasher.name());
    parameters.check()?;
    if args.dry_run {
        return summary::dry_run(args, path, &parameters, records.given(), &left_out);
    }
    let _hold = interrupt::hold()?;
    let progress = writing::progress(args);
    let (index, loaded) = KeyIndex::create_loaded(path, &parameters, &options(args), records)?;
    progress.finish();
    interrupt::leaves(DONE);
    let rest = Rest { compacted: None, filters: None, seconds: started.elapsed().as_secs_f64() };
    summary::done(args, path, &Deed::Created(Some(loaded)), &index, &left_out, rest)
}

/// Adds records to a key index, replaces or removes some, or compacts it.
pub(crate) fn change(args: &Args, path: &Path, parameters: &Parameters, format: KeyFormat) -> anyhow::Result<()> {
    check(args)?;
    if args.kind == Some(StoreKind::Fingerprints) {
        bail!("the store is of keys, not of fingerprints");
    }
    agree("--key-bits", args.key_bits, format.key_bits())?;
    agree("--sketch", args.sketch, format.sketch_bits())?;
    agree("--block-size", args.block_size, parameters.block_size())?;
    if args.id_index && args.inputs.is_empty() {
        return add_id_index(args, path, parameters);
    }
    if args.id_index && !parameters.id_index() {
        bail!("the index has no index of its ids; make one first, by `fpload --id-index STORE` without inputs");
    }
    if args.remove && !args.by_id {
        bail!("records with keys are removed by their ids: --remove --by-id");
    }
    let started = Instant::now();
    let kind = parameters.ids();
    let mut left_out = LeftOut::default();
    let (records, ids) = if args.by_id {
        (None, Some(gather_ids(args, path, kind)?))
    } else if args.inputs.is_empty() {
        (None, None)
    } else {
        let gathered = if args.text {
            let is_said = args.bands.any() || args.texts.simhash.any();
            let given = args.texts.tokens_column.is_some();
            let maker = match parameters.hasher().filter(|_| !is_said) {
                Some(recorded) => BandMaker::recorded(recorded, format, given)?,
                None => maker(args, format.sketch_bits())?,
            };
            texts::gather(args, path, format, &maker, Ids::Is(kind), Some(parameters))?
        } else {
            gather(args, path, format, Ids::Is(kind), Some(parameters))?
        };
        left_out = gathered.left_out;
        (Some(gathered.records), None)
    };
    if args.dry_run {
        let given = records.as_ref().map(SortedKeys::given).or(ids.as_ref().map(SortedIds::given)).unwrap_or(0);
        return summary::dry_run(args, path, parameters, given, &left_out);
    }
    let _hold = interrupt::hold()?;
    let progress = writing::progress(args);
    let index = KeyIndex::open(path, &options(args))?;
    let deed = match (records, ids) {
        (_, Some(ids)) => Deed::RemovedIds(index.remove_ids(&ids)?),
        (Some(records), _) if args.replace => Deed::Replaced(index.replace(records)?),
        (Some(records), _) => Deed::Loaded(index.load(records)?),
        (None, None) => Deed::Nothing,
    };
    let compacted = if args.compact { Some(index.compact()?) } else { None };
    progress.finish();
    interrupt::leaves(DONE);
    let rest = Rest { compacted, filters: None, seconds: started.elapsed().as_secs_f64() };
    summary::done(args, path, &deed, &index, &left_out, rest)
}

/// Adds an index of ids to an existing index.
fn add_id_index(args: &Args, path: &Path, parameters: &Parameters) -> anyhow::Result<()> {
    let (started, nothing) = (Instant::now(), LeftOut::default());
    if args.dry_run {
        return summary::dry_run(args, path, parameters, 0, &nothing);
    }
    let _hold = interrupt::hold()?;
    let progress = writing::progress(args);
    let is_new = fpstore::admin::add_id_index(path, &options(args))?;
    let index = KeyIndex::open(path, &options(args))?;
    let compacted = if args.compact && !is_new { Some(index.compact()?) } else { None };
    progress.finish();
    interrupt::leaves(DONE);
    let rest = Rest { compacted, filters: None, seconds: started.elapsed().as_secs_f64() };
    summary::done(args, path, &Deed::Indexed(is_new), &index, &nothing, rest)
}

/// Makes the keys of documents.
fn maker(args: &Args, sketch_bits: u16) -> anyhow::Result<BandMaker> {
    let simhash = &args.texts.simhash;
    let given = args.texts.tokens_column.is_some();
    args.bands.maker(simhash.preset.as_ref(), &simhash.features, sketch_bits, given)
}

/// Reads the records of all inputs.
fn gather(
    args: &Args,
    path: &Path,
    format: KeyFormat,
    ids: Ids,
    store: Option<&Parameters>,
) -> anyhow::Result<Gathered> {
    let described = InputOptions { temp_dir: args.temp_dir(), ..args.options.clone() };
    let progress = if args.common.shows_progress() { Progress::bytes(None) } else { Progress::hidden() };
    let (mut rule, mut hasher) = (IdRule::new(ids), Hasher::new(args.hasher.as_deref()));
    let mut sorter = KeySorter::new(path, &options(args), format);
    for source in &sources(&args.inputs, &described)? {
        progress.message(format!("reading {}", source.name()));
        let reader = KeyReader::open(source, &described, &progress)?;
        hasher.meet(&source.name(), reader.header())?;
        if let Some(store) = store {
            hasher.check(store).with_context(|| source.name())?;
        }
        reader.each(&mut rule, |id, keys, sketch| Ok(sorter.push(id, keys, sketch)?))?;
    }
    progress.message("sorting".to_owned());
    let records = sorter.finish()?;
    progress.finish();
    Ok(Gathered { records, rule, hasher, left_out: LeftOut::default() })
}

/// Reads ids alone.
fn gather_ids(args: &Args, path: &Path, kind: IdKind) -> anyhow::Result<SortedIds> {
    let described = InputOptions { temp_dir: args.temp_dir(), ..args.options.clone() };
    let mut rule = IdRule::new(Ids::Is(kind));
    let mut sorter = IdSorter::new(path, &options(args));
    for source in &sources(&args.inputs, &described)? {
        IdReader::open(source, &described, &Progress::hidden())?.each(&mut rule, |id| Ok(sorter.push(id)?))?;
    }
    Ok(sorter.finish()?)
}
