//! `fpdedup documents`: documents in, documents without near-duplicates out.
//!
//! Four phases, each of which leaves its result in the directory of the run (`work.rs`): `hash.rs` makes the
//! fingerprints or keys (`maker.rs`, `method.rs`), `compare.rs` decides which documents are removed, `verify.rs`
//! compares their texts with those of their keepers, `write.rs` writes the evidence and the documents that stay. A run
//! that was stopped continues with the phase that was interrupted. Documents are known by their numbers in the input,
//! so they need no ids.

pub(crate) mod args;
mod compare;
mod hash;
mod ids;
mod links;
mod maker;
mod method;
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
use fpstore::clusters::Keeper;
use fpstore_tools::common::Common;
use fpstore_tools::documents::{Digest, DocumentOptions, Form, Inputs};
use fpstore_tools::exit::Outcome;
use fpstore_tools::output::{EVIDENCE, KEY_EVIDENCE, VERIFIED, check_apart};
use fpstore_tools::progress::Progress;
use fpstore_tools::{interrupt, memory};

use args::DocumentsArgs;
use compare::{Comparing, FATES, LINKS, Near, Watch};
use hash::Hashing;
use maker::Maker;
use order::Order;
use summary::{Phase, Summary};
use verify::Verifying;
use work::{Step, Work};

use crate::job::watch;
use crate::rule;

/// How often documents whose texts differ from their keepers' are compared among themselves. Each time all documents
/// are read, and pages of one template may need as many times as there are pages.
const ROUNDS: usize = 3;

/// A run whose options have been checked.
struct Run<'a> {
    common: Common,
    args: &'a DocumentsArgs,
    inputs: Inputs,
    form: Form,
    digest: Digest,
    maker: Maker,
    near: Near,
}

pub(crate) fn run(common: Common, args: &DocumentsArgs) -> anyhow::Result<Outcome> {
    let (maker, near) = method::of(args)?;
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
        drop(write::evidence(evidence, EVIDENCE, false, common.json)?);
    }
    let digest = Digest::of(&inputs)?;
    let form = Form::of(&inputs, &args.output)?;
    if let Some(column) = args.keep_by.as_deref().filter(|column| !form.may_have(column)) {
        bail!("--keep-by: the inputs have no column \"{column}\"");
    }
    Run { common, args, inputs, form, digest, maker, near }.all(directory)
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
    fn all(&self, directory: PathBuf) -> anyhow::Result<Outcome> {
        interrupt::leaves("the same command continues");
        let mut work = Work::open(directory, &self.identity())?;
        let done = self.phases(&mut work);
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
        let Self { args, digest, maker, near, .. } = self;
        let DocumentsArgs { min_features, documents, .. } = args;
        format!(
            "{} {} {near:?} {:?} {:?} {min_features} {:?} {:?} {:?} {documents:?} {digest:?}",
            env!("CARGO_PKG_VERSION"),
            maker.identity(),
            args.linkage(),
            args.verified(),
            args.evidence.is_some(),
            &args.rejects,
            (&args.keep_by, args.keep_order),
        )
    }

    /// Runs the remaining steps.
    fn phases(&self, work: &mut Work) -> anyhow::Result<Summary<'_>> {
        let memory = self.args.memory;
        let verified = self.args.verified();
        let mut seconds = work.state.seconds;
        if work.state.step == Step::Hash {
            let started = Instant::now();
            let hashing = Hashing {
                inputs: &self.inputs,
                maker: &self.maker,
                least: self.args.min_features as usize,
                rejects: &self.args.rejects,
                with_ids: self.args.evidence.is_some(),
                memory,
            };
            let shown = self.bar("hashing");
            hashing.run(work, &shown)?;
            shown.finish();
            seconds[0] += started.elapsed().as_secs_f64();
        }
        work.state.seconds = seconds;
        self.decide(work, &mut seconds)?;
        let started = Instant::now();
        let texts = work.state.ids == work::IdsAre::Texts;
        let evidence = self.args.evidence.as_deref();
        let columns = match self.near {
            Near::Keys { .. } => KEY_EVIDENCE,
            Near::Distance { .. } if verified.is_some() => VERIFIED,
            Near::Distance { .. } => EVIDENCE,
        };
        let evidence = evidence.map(|path| write::evidence(path, columns, texts, self.common.json));
        let (removals, evidence) = write::removed(work, evidence.transpose()?, columns, self.near)?;
        let shown = self.bar("writing");
        let (read_from, written) = ((&self.inputs, self.digest), (&self.form, &*self.args.output));
        let copied = write::documents((work, self.maker.bytes()), read_from, written, memory, &shown)?;
        shown.finish();
        // The evidence appears beside a complete output.
        evidence.map(fpstore_tools::output::Output::finish).transpose()?;
        seconds[3] += started.elapsed().as_secs_f64();
        let length = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
        let read = self.digest.bytes;
        let phases = [
            ("hashing", read),
            ("comparing", length(&work.path(hash::ENTRIES))),
            ("verifying", if verified.is_some() { read } else { 0 }),
            ("writing", length(&self.args.output)),
        ];
        let phases = phases.into_iter().zip(seconds);
        let phases = phases.map(|((phase, bytes), seconds)| Phase { phase, seconds, bytes });
        Ok(Summary {
            output: &self.args.output,
            hasher: self.maker.identity(),
            near: self.near,
            linkage: rule::name(self.args.linkage()),
            threshold: verified,
            kept: copied.kept,
            removals,
            phases: phases.filter(|phase| phase.phase != "verifying" || verified.is_some()).collect(),
        })
    }

    /// Decides which documents are removed, and compares their texts.
    fn decide(&self, work: &mut Work, seconds: &mut [f64; 4]) -> anyhow::Result<()> {
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
            let (length, linkage, memory) = (self.maker.bytes(), self.args.linkage(), memory - bytes);
            anyhow::Ok(Comparing { near: self.near, length, linkage, keeper, memory })
        };
        let watch: &Watch<'_> = &|progress| watch(self.common, "comparing", progress);
        let [_, compared, verified, _] = seconds;
        if work.state.step == Step::Compare {
            let started = Instant::now();
            comparing(work)?.run(work, watch)?;
            *compared += started.elapsed().as_secs_f64();
        }
        if work.state.step == Step::Verify {
            let started = Instant::now();
            links::copy(&work.path(LINKS), &work.path(FATES))?;
            if let Some(threshold) = self.args.verified() {
                let verify = |work: &Work| {
                    let memory = memory - keeper.get().map_or(0, |(_, bytes)| *bytes);
                    let preparation = self.maker.preparation();
                    let verifying = Verifying { inputs: &self.inputs, preparation, threshold, memory };
                    verifying.run(work, || self.bar("verifying"))
                };
                for _ in 0..ROUNDS {
                    if verify(work)? == 0 {
                        break;
                    }
                    comparing(work)?.again(work, watch)?;
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
