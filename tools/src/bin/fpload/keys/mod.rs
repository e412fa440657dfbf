//! Loads of key indexes: records with keys instead of fingerprints.

mod gathered;
mod texts;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};
use fpstore::bulk::{IdSorter, RemoveIdsReport};
use fpstore::keys::{KeyLoadReport, KeySorter, SortedKeys};
use fpstore::{IdKind, KeyFormat, KeyIndex, Parameters};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::documents::LeftOut;
use fpstore_tools::input::{IdReader, IdRule, Ids, InputOptions, KeyReader, sources};
use fpstore_tools::number::{bytes, count, count_of, float};
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching::BandMaker;
use fpstore_tools::{interrupt, report};
use serde::Serialize;

use crate::args::{Args, StoreKind};
use crate::creation::{agree, wanted_ids};
use crate::hasher::Hasher;
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
        return dry_run(args, path, &parameters, records.given());
    }
    let _hold = interrupt::hold()?;
    let progress = writing::progress(args);
    let (index, loaded) = KeyIndex::create_loaded(path, &parameters, &options(args), records)?;
    progress.finish();
    interrupt::leaves(DONE);
    let deed = Deed { created: true, loaded: Some(loaded), left_out, ..Deed::default() };
    deed.report(args, path, &index, started)
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
    if args.id_index && !parameters.id_index() {
        if !args.inputs.is_empty() {
            bail!("the index has no index of its ids; make one first, by `fpload --id-index STORE` without inputs");
        }
        let _hold = interrupt::hold()?;
        fpstore::admin::add_id_index(path, &options(args))?;
        return Ok(());
    }
    if args.remove && !args.by_id {
        bail!("records with keys are removed by their ids: --remove --by-id");
    }
    let started = Instant::now();
    let mut deed = Deed::default();
    let kind = parameters.ids();
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
        deed.left_out = gathered.left_out;
        (Some(gathered.records), None)
    };
    if args.dry_run {
        let given = records.as_ref().map_or(0, SortedKeys::given);
        return dry_run(args, path, parameters, given);
    }
    let _hold = interrupt::hold()?;
    let progress = writing::progress(args);
    let index = KeyIndex::open(path, &options(args))?;
    if let Some(ids) = ids {
        deed.removed = Some(index.remove_ids(&ids)?);
    }
    if let Some(records) = records {
        deed.replaces = args.replace;
        deed.loaded = Some(if args.replace { index.replace(records)? } else { index.load(records)? });
    }
    if args.compact {
        deed.compacted = Some(index.compact()?);
    }
    progress.finish();
    interrupt::leaves(DONE);
    deed.report(args, path, &index, started)
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
fn gather_ids(args: &Args, path: &Path, kind: IdKind) -> anyhow::Result<fpstore::bulk::SortedIds> {
    let described = InputOptions { temp_dir: args.temp_dir(), ..args.options.clone() };
    let mut rule = IdRule::new(Ids::Is(kind));
    let mut sorter = IdSorter::new(path, &options(args));
    for source in &sources(&args.inputs, &described)? {
        IdReader::open(source, &described, &Progress::hidden())?.each(&mut rule, |id| Ok(sorter.push(id)?))?;
    }
    Ok(sorter.finish()?)
}

/// What was done.
#[derive(Default)]
struct Deed {
    created: bool,
    loaded: Option<KeyLoadReport>,
    left_out: LeftOut,
    replaces: bool,
    removed: Option<RemoveIdsReport>,
    compacted: Option<bool>,
}

#[derive(Serialize)]
struct Summary<'a> {
    schema_version: u32,
    store: String,
    kind: &'static str,
    created: bool,
    dry_run: bool,
    ids: &'static str,
    hasher: Option<&'a str>,
    key_bits: u8,
    sketch_bits: u16,
    block_size: u32,
    /// Records in the input.
    records: u64,
    /// Documents that were left out, with --text.
    left_out: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out_reasons: BTreeMap<&'static str, u64>,
    #[serde(flatten)]
    outcome: Option<Outcome>,
}

#[derive(Serialize)]
struct Outcome {
    /// Records whose id came before in the input.
    repeated: u64,
    /// Records whose id the index had.
    already_present: u64,
    added: u64,
    keys: u64,
    removed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_found: Option<u64>,
    compacted: bool,
    seconds: f64,
    records_per_second: f64,
    store_records: u64,
    file_bytes: u64,
}

fn summary<'a>(path: &Path, parameters: &'a Parameters, records: u64) -> Summary<'a> {
    let format = parameters.keys().unwrap_or_default();
    Summary {
        schema_version: SCHEMA_VERSION,
        store: path.display().to_string(),
        kind: "keys",
        created: false,
        dry_run: false,
        ids: parameters.ids().name(),
        hasher: parameters.hasher(),
        key_bits: format.key_bits(),
        sketch_bits: format.sketch_bits(),
        block_size: parameters.block_size(),
        records,
        left_out: 0,
        left_out_reasons: BTreeMap::new(),
        outcome: None,
    }
}

fn dry_run(args: &Args, path: &Path, parameters: &Parameters, records: u64) -> anyhow::Result<()> {
    if args.common.json {
        let summary = Summary { dry_run: true, created: args.create, ..summary(path, parameters, records) };
        return Ok(report::json(&mut io::stdout().lock(), &summary)?);
    }
    if args.common.quiet {
        return Ok(());
    }
    let input = format!("{}, sound", count_of(records, "record"));
    let facts = [("input", input), ("written", "nothing: this is a dry run".to_owned())];
    Ok(report::facts(&mut io::stderr().lock(), &facts)?)
}

impl Deed {
    fn report(self, args: &Args, path: &Path, index: &KeyIndex, started: Instant) -> anyhow::Result<()> {
        let seconds = started.elapsed().as_secs_f64();
        let (parameters, statistics) = (index.parameters(), index.statistics());
        let loaded = self.loaded.unwrap_or_default();
        let given = self.removed.as_ref().map_or(loaded.records, |removed| removed.ids);
        let outcome = Outcome {
            repeated: loaded.repeated,
            already_present: loaded.already_present,
            added: loaded.added,
            keys: loaded.keys,
            removed: self.removed.as_ref().map_or(loaded.replaced, |removed| removed.removed),
            not_found: self.removed.as_ref().map(|removed| removed.unknown),
            compacted: self.compacted == Some(true),
            seconds,
            records_per_second: float(given) / seconds.max(1e-9),
            store_records: statistics.records,
            file_bytes: statistics.file_bytes,
        };
        if args.common.json {
            let summary = Summary {
                created: self.created,
                left_out: self.left_out.total(),
                left_out_reasons: self.left_out.reasons(),
                outcome: Some(outcome),
                ..summary(path, parameters, given)
            };
            return Ok(report::json(&mut io::stdout().lock(), &summary)?);
        }
        if args.common.quiet {
            return Ok(());
        }
        let act = if self.created { "created" } else { "changed" };
        let format = parameters.keys().unwrap_or_default();
        let sketches = match format.sketch_bits() {
            0 => "no sketches".to_owned(),
            bits => format!("sketches of {bits} bits"),
        };
        let mut facts =
            vec![("store", format!("{} ({act}; keys of {} bits, {sketches})", path.display(), format.key_bits()))];
        if let Some(removed) = &self.removed {
            let (gone, unknown) = (count_of(removed.removed, "record"), count(removed.unknown));
            facts.push(("removed", format!("{gone} of {}; not found: {unknown}", count_of(removed.ids, "id"))));
        }
        if self.loaded.is_some() {
            let mut text = format!("{}: {} new", count_of(loaded.records, "record"), count(loaded.added));
            if self.replaces {
                text += &format!(" in place of {}", count(loaded.replaced));
            } else {
                text += &format!(", {} already present", count(loaded.already_present));
            }
            if loaded.repeated > 0 {
                text += &format!(", {} with an id that came before", count(loaded.repeated));
            }
            facts.push(("loaded", format!("{text}; {}", count_of(loaded.keys, "key"))));
        }
        if self.left_out.total() > 0 {
            facts.push(("left out", self.left_out.to_string()));
        }
        if let Some(compacted) = self.compacted {
            let what = if compacted { "to one run" } else { "nothing to do: there are no two runs" };
            facts.push(("compacted", what.to_owned()));
        }
        let records = count_of(statistics.records, "record");
        facts.push(("holds", format!("{records} in {}", bytes(statistics.file_bytes))));
        if let Some(keys) = &statistics.keys
            && let Some(bound) = keys.information_bound_bits()
        {
            let bits = keys.bits_per_key();
            facts.push(("keys", format!("{bits:.2} bits a key with its record (information bound {bound:.2})")));
        }
        facts.push(("time", format!("{seconds:.2} s")));
        Ok(report::facts(&mut io::stderr().lock(), &facts)?)
    }
}
