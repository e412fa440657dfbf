//! `fpdedup documents`: documents in, documents without near-duplicates out.
//!
//! Four phases, each of which leaves its result in the directory of the run (`work.rs`): `hash.rs` makes the
//! fingerprints, `compare.rs` decides which documents are removed, `verify.rs` compares their texts with those of their
//! keepers, `write.rs` writes the evidence and the documents that stay. A run that was stopped continues with the phase
//! that was interrupted. Documents are known by their numbers in the input, so they need no ids.

pub(crate) mod args;
mod compare;
mod hash;
mod ids;
mod links;
mod order;
mod spool;
mod summary;
mod verify;
mod work;
mod write;

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use fpsketch::Simhash;
use fpstore::Fingerprint;
use fpstore::clusters::Keeper;
use fpstore_tools::common::Common;
use fpstore_tools::documents::{Digest, DocumentOptions, Form, Inputs};
use fpstore_tools::exit::Outcome;
use fpstore_tools::output::check_apart;
use fpstore_tools::progress::Progress;
use fpstore_tools::width::{by_width, check_distance};
use fpstore_tools::{interrupt, memory};

use args::{DocumentsArgs, Method};
use compare::{Comparing, FATES, LINKS, Watch};
use hash::Hashing;
use order::Order;
use summary::{Phase, Summary};
use verify::Verifying;
use work::{Step, Work};

use crate::job::watch;
use crate::rule;

/// Default distances: beyond them, many near pairs are so by chance (BENCHMARKS.md, "How well fingerprints match").
const DISTANCE: u32 = 6;
const DISTANCE_OF_128: u32 = 20;

/// How often documents whose texts differ from their keepers' are compared among themselves. Each time all documents are
/// read, and pages of one template may need as many times as there are pages.
const ROUNDS: usize = 3;

/// A run whose options have been checked.
struct Run<'a> {
    common: Common,
    args: &'a DocumentsArgs,
    inputs: Inputs,
    form: Form,
    digest: Digest,
    simhash: Simhash,
    distance: u32,
}

pub(crate) fn run(common: Common, args: &DocumentsArgs) -> anyhow::Result<Outcome> {
    if args.method == Method::Minhash {
        bail!(
            "--method minhash is not there yet; use --method simhash, or load the documents into a key index (`fpload --kind \
             keys --text`) and run `fpdedup keep` on it"
        );
    }
    let given = args.documents.tokens_column.is_some();
    let simhash = args.simhash.simhash(args.width, given)?;
    let distance = distance(args, &simhash)?;
    let read: Vec<&OsStr> = args.inputs.iter().map(AsRef::as_ref).collect();
    let outputs = [
        ("--output", Some(&*args.output)),
        ("--evidence", args.evidence.as_deref()),
        ("--rejects", args.rejects.rejects.as_deref()),
    ];
    check_apart(&outputs, &read)?;
    let directory = directory(args)?;
    let options = DocumentOptions { temp_dir: args.tmp_dir.clone(), ..args.documents.clone() };
    let inputs = Inputs::new(&args.inputs, &options)?;
    if let Some(evidence) = &args.evidence {
        // An unusable name fails before the work begins.
        drop(write::evidence(evidence, false, false, common.json)?);
    }
    let digest = Digest::of(&inputs)?;
    let form = Form::of(&inputs, &args.output)?;
    if let Some(column) = args.keep_by.as_deref().filter(|column| !form.may_have(column)) {
        bail!("--keep-by: the inputs have no column \"{column}\"");
    }
    let run = Run { common, args, inputs, form, digest, simhash, distance };
    by_width!(if run.simhash.width() <= 64 { 64 } else { 128 }, F => run.all::<F>(directory))
}

/// Returns the distance within which documents are near.
fn distance(args: &DocumentsArgs, simhash: &Simhash) -> anyhow::Result<u32> {
    let width = simhash.width();
    let usual = if width > 64 { DISTANCE_OF_128 } else { DISTANCE };
    let distance = match (args.distance, args.threshold) {
        (Some(distance), _) => distance,
        (None, Some(threshold)) => fpsketch::compare::expected_distance(threshold, width),
        (None, None) => usual.min(width),
    };
    check_distance("--distance", distance, width)?;
    Ok(distance)
}

/// Returns the directory of the run: beside the output, or in `--tmp-dir`, and in no input directory.
fn directory(args: &DocumentsArgs) -> anyhow::Result<PathBuf> {
    let beside = args.output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (option, parent) = match &args.tmp_dir {
        Some(directory) => ("--tmp-dir", &**directory),
        None => ("--output", beside),
    };
    let parent_of = |path: &Path| path.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_owned);
    let others = [("--evidence", &args.evidence), ("--rejects", &args.rejects.rejects)];
    let others = others
        .into_iter()
        .filter_map(|(option, path)| Some((option, parent_of(path.as_deref()?).unwrap_or_else(|| ".".into()))));
    for (option, place) in [(option, parent.to_owned()), ("--output", beside.to_owned())].into_iter().chain(others) {
        let place = fs::canonicalize(&place).with_context(|| format!("{option} {}", place.display()))?;
        for input in &args.inputs {
            let input = Path::new(input);
            if input.is_dir() && fs::canonicalize(input).is_ok_and(|input| place.starts_with(input)) {
                bail!("{option}: it would be in the input directory {}; name another place", input.display());
            }
        }
    }
    let mut name = args.output.file_name().context("--output: name a file")?.to_owned();
    if args.tmp_dir.is_some() {
        // Outputs of the same name in several places.
        let mut hasher = DefaultHasher::new();
        fs::canonicalize(beside)?.hash(&mut hasher);
        name.push(format!(".{:08x}", hasher.finish() >> 32));
    }
    name.push(".fpdedup");
    Ok(parent.join(name))
}

impl Run<'_> {
    fn all<F: Fingerprint>(&self, directory: PathBuf) -> anyhow::Result<Outcome> {
        interrupt::leaves("the same command continues");
        let mut work = Work::open(directory, &self.identity())?;
        let done = self.phases::<F>(&mut work);
        let summary = match done {
            Ok(summary) => summary,
            Err(error) if !work.is_saved() => {
                work.remove()?;
                return Err(error);
            }
            Err(error) => return Err(error.context(format!("{} keeps what was done", work.directory().display()))),
        };
        interrupt::leaves("");
        let state = work.state.clone();
        work.remove()?;
        summary.write(&state, self.common.json)?;
        Ok(Outcome::Done)
    }
}

impl Run<'_> {
    /// Everything that the result depends on.
    fn identity(&self) -> String {
        let Self { args, digest, simhash, distance, .. } = self;
        let DocumentsArgs { min_features, documents, .. } = args;
        format!(
            "{} {} {} {distance} {:?} {:?} {min_features} {:?} {:?} {:?} {documents:?} {digest:?}",
            env!("CARGO_PKG_VERSION"),
            simhash.identity(),
            simhash.width(),
            args.linkage(),
            args.verified(),
            args.evidence.is_some(),
            &args.rejects,
            (&args.keep_by, args.keep_order),
        )
    }

    /// Runs the remaining steps.
    fn phases<F: Fingerprint>(&self, work: &mut Work) -> anyhow::Result<Summary<'_>> {
        let memory = self.args.memory;
        let verified = self.args.verified();
        let mut seconds = work.state.seconds;
        if work.state.step == Step::Hash {
            let started = Instant::now();
            let hashing = Hashing {
                inputs: &self.inputs,
                simhash: &self.simhash,
                least: self.args.min_features as usize,
                rejects: &self.args.rejects,
                with_ids: self.args.evidence.is_some(),
                memory,
            };
            let shown = self.bar("hashing");
            hashing.run::<F>(work, &shown)?;
            shown.finish();
            seconds[0] += started.elapsed().as_secs_f64();
        }
        work.state.seconds = seconds;
        self.decide::<F>(work, &mut seconds)?;
        let started = Instant::now();
        let texts = work.state.ids == work::IdsAre::Texts;
        let evidence = self.args.evidence.as_deref();
        let evidence = evidence.map(|path| write::evidence(path, verified.is_some(), texts, self.common.json));
        let (removals, evidence) = write::removed(work, evidence.transpose()?, verified.is_some())?;
        let shown = self.bar("writing");
        let copied =
            write::documents::<F>(work, (&self.inputs, self.digest), &self.form, &self.args.output, memory, &shown)?;
        shown.finish();
        // The evidence appears beside a complete output.
        evidence.map(fpstore_tools::output::Output::finish).transpose()?;
        seconds[3] += started.elapsed().as_secs_f64();
        let length = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
        let read = self.digest.bytes;
        let phases = [
            ("hashing", read),
            ("comparing", length(&work.path(hash::FINGERPRINTS))),
            ("verifying", if verified.is_some() { read } else { 0 }),
            ("writing", length(&self.args.output)),
        ];
        let phases = phases.into_iter().zip(seconds);
        let phases = phases.map(|((phase, bytes), seconds)| Phase { phase, seconds, bytes });
        Ok(Summary {
            output: &self.args.output,
            hasher: self.simhash.identity(),
            distance: self.distance,
            linkage: rule::name(self.args.linkage()),
            threshold: verified,
            kept: copied.kept,
            removals,
            phases: phases.filter(|phase| phase.phase != "verifying" || verified.is_some()).collect(),
        })
    }

    /// Decides which documents are removed, and compares their texts.
    fn decide<F: Fingerprint>(&self, work: &mut Work, seconds: &mut [f64; 4]) -> anyhow::Result<()> {
        let memory = memory::of_load(Some(self.args.memory));
        let keeper = OnceCell::new();
        let comparing = |work: &Work| {
            let (keeper, bytes) = match keeper.get() {
                Some(made) => made,
                None => {
                    let made = self.keeper(work, memory / 2)?;
                    keeper.get_or_init(|| made)
                }
            };
            let (distance, linkage, memory) = (self.distance, self.args.linkage(), memory - bytes);
            anyhow::Ok(Comparing { distance, linkage, keeper, memory })
        };
        let watch: &Watch<'_> = &|progress| watch(self.common, "comparing", progress);
        let [_, compared, verified, _] = seconds;
        if work.state.step == Step::Compare {
            let started = Instant::now();
            comparing(work)?.run::<F>(work, watch)?;
            *compared += started.elapsed().as_secs_f64();
        }
        if work.state.step == Step::Verify {
            let started = Instant::now();
            links::copy(&work.path(LINKS), &work.path(FATES))?;
            if let Some(threshold) = self.args.verified() {
                let verify = |work: &Work| {
                    let memory = memory - keeper.get().map_or(0, |(_, bytes)| *bytes);
                    let preparation = self.simhash.preparation();
                    let verifying = Verifying { inputs: &self.inputs, preparation, threshold, memory };
                    verifying.run(work, || self.bar("verifying"))
                };
                for _ in 0..ROUNDS {
                    if verify(work)? == 0 {
                        break;
                    }
                    comparing(work)?.again::<F>(work, watch)?;
                }
                verify(work)?;
            }
            *verified += started.elapsed().as_secs_f64();
            work.state.seconds = *seconds;
            work.done(Step::Write)?;
        }
        Ok(())
    }

    /// Returns the keeper, and the bytes that it takes of `memory`.
    fn keeper(&self, work: &Work, memory: u64) -> anyhow::Result<(Keeper, u64)> {
        let Some(column) = self.args.keep_by.as_deref() else { return Ok((Keeper::Smallest, 0)) };
        let shown = self.bar("ordering");
        let order = Order { inputs: &self.inputs, column, first: self.args.keep_order };
        let keeper = order.keeper(work, memory, &shown)?;
        shown.finish();
        Ok(keeper)
    }

    /// Returns a bar over the bytes of all inputs.
    fn bar(&self, message: &str) -> Progress {
        if !self.common.shows_progress() {
            return Progress::hidden();
        }
        let bar = Progress::bytes(Some(self.digest.bytes));
        bar.message(message.to_owned());
        bar
    }
}
