//! The loads that are disturbed, and their undisturbed result.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::inputs::{self, Kind};
use super::stage::{self, Stage, succeeds};
use super::state::State;

/// The least memory limit, so that the load sorts in temporary files.
const MEMORY: &str = "64MiB";

/// A load.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) about: String,
    /// The store before the load; `None` if the load creates it.
    pub(super) base: Option<PathBuf>,
    options: Vec<&'static str>,
    inputs: Vec<PathBuf>,
    pub(super) input_bytes: u64,
    /// Bytes of the store after the load.
    pub(super) store_bytes: u64,
    pub(super) before: Option<State>,
    pub(super) after: State,
    pub(super) duration: Duration,
}

impl Case {
    /// Returns the command that loads into `store`, with temporary files in `temporary` or beside the store.
    pub(super) fn load(&self, stage: &Stage, store: &Path, temporary: Option<&Path>) -> Command {
        let mut command = stage.fpload();
        command.args(["--memory", MEMORY]).args(&self.options);
        if let Some(directory) = temporary {
            command.arg("--tmp-dir").arg(directory);
        }
        command.arg(store).args(&self.inputs);
        command
    }

    pub(super) fn compacts(&self) -> bool {
        self.options.contains(&"--compact")
    }

    pub(super) fn creates(&self) -> bool {
        self.base.is_none()
    }

    /// Restores the initial state of the store at the path.
    pub(super) fn set_up(&self, store: &Path) -> Result<()> {
        match &self.base {
            Some(base) => stage::copy(base, store),
            None => stage::remove(store),
        }
    }
}

/// Makes inputs and stores, and runs every case once undisturbed.
pub(super) fn prepare(stage: &Stage, records: u64) -> Result<Vec<Case>> {
    let file = |name: &str, kind, words, from, to| -> Result<PathBuf> {
        let path = stage.path(name);
        inputs::write(&path, kind, words, from, to)?;
        Ok(path)
    };
    let (half, third) = (records / 2, records / 3);
    let numbers = file("numbers.tsv", Kind::Numbers, 1, 0, records)?;
    let more = file("more.tsv", Kind::Numbers, 1, records - third / 2, records + third)?;
    let texts = file("texts.tsv", Kind::Texts, 2, 0, third)?;
    let more_texts = file("more-texts.tsv", Kind::Texts, 2, third / 2, third + third / 2)?;
    let raw = file("raw.u256", Kind::Raw, 4, 0, half)?;

    let base = |name: &str, loads: &[(&[&str], &PathBuf)]| -> Result<PathBuf> {
        let store = stage.path(name);
        for (n, (options, input)) in loads.iter().enumerate() {
            let create: &[&str] = if n == 0 { &["--create"] } else { &[] };
            succeeds(stage.fpload().args(create).args(*options).arg(&store).arg(input))?;
        }
        Ok(store)
    };
    let some = base("some", &[(&[], &more)])?;
    let both = base("both", &[(&[], &more), (&[], &numbers)])?;
    let some_texts = base("some-texts", &[(&["--width", "128", "--max-distance", "6"], &more_texts)])?;

    /// Name, initial store, options and inputs of a case.
    type Told<'a> = (&'static str, Option<&'a PathBuf>, &'static [&'static str], &'a [&'a PathBuf]);
    let all: [Told<'_>; 7] = [
        ("create, 64 bits", None, &["--create"], &[&numbers]),
        ("add, 64 bits", Some(&some), &[], &[&numbers]),
        ("remove, 64 bits", Some(&both), &["--remove"], &[&numbers]),
        ("compact, 64 bits", Some(&both), &["--compact"], &[]),
        ("create, 256 bits without ids", None, &["--create", "--ids", "none", "--width", "256"], &[&raw]),
        ("add texts and compact, 128 bits", Some(&some_texts), &["--compact"], &[&texts]),
        ("create texts, 128 bits", None, &["--create", "--width", "128"], &[&texts]),
    ];
    all.into_iter().map(|(name, base, options, inputs)| peaceful(stage, name, base, options, inputs)).collect()
}

/// Returns a case with its undisturbed result.
fn peaceful(
    stage: &Stage,
    name: &'static str,
    base: Option<&PathBuf>,
    options: &[&'static str],
    inputs: &[&PathBuf],
) -> Result<Case> {
    let before = base.map(|base| State::of(stage, base)).transpose()?;
    let mut input_bytes = 0;
    for input in inputs {
        input_bytes += std::fs::metadata(input)?.len();
    }
    let mut case = Case {
        name,
        about: String::new(),
        base: base.cloned(),
        options: options.to_vec(),
        inputs: inputs.iter().map(|&input| input.clone()).collect(),
        input_bytes,
        store_bytes: 0,
        after: State::default(),
        before,
        duration: Duration::ZERO,
    };
    let store = stage.path("undisturbed");
    case.set_up(&store)?;
    let begun = Instant::now();
    succeeds(&mut case.load(stage, &store, Some(&stage.root)))?;
    case.duration = begun.elapsed();
    case.after = State::of(stage, &store)?;
    case.store_bytes = stage::bytes(&store)?;
    let (was, is) = (case.before.as_ref().map_or(0, |state| state.lines), case.after.lines);
    case.about = format!("{was} records before, {is} after, in {} segments", case.after.segments);
    Ok(case)
}
