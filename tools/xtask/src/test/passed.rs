//! The steps that passed in an earlier run with the same files, program, arguments and environment.
//!
//! Tests read files of the work tree and run its programs, so a change of any file makes every step run again.
//! Another compiler, another day (short runs take other points then) and a build server (`CI`) have the same effect.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::jobs::Job;

/// Prefixes of variables that change the behaviour of tests.
const VARIABLES: [&str; 4] = ["FPSTORE_", "PROPTEST_", "RUST", "CARGO_ENCODED_RUSTFLAGS"];

/// The record of a step that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    key: u64,
    /// The result lines of libtest.
    results: String,
}

pub(super) struct Passed {
    path: PathBuf,
    /// The hash of everything that the steps have in common.
    common: u64,
    steps: BTreeMap<String, Step>,
}

impl Passed {
    /// Reads the steps that passed before, from a file below `target`. There are none if `again` is set or on a build
    /// server.
    pub(super) fn read(root: &Path, target: &Path, again: bool) -> Result<Self> {
        let path = target.join("passed.json");
        let steps = if again || env::var_os("CI").is_some() { BTreeMap::new() } else { steps(&path) };
        Ok(Self { path, common: common(root, target)?, steps })
    }

    /// Returns the result lines of a step that passed, if nothing has changed since; and its key.
    pub(super) fn look_up(&self, job: &Job) -> Result<(u64, Option<&str>)> {
        let key = key(self.common, &job.command)?;
        let same = self.steps.get(&job.name).filter(|step| step.key == key);
        Ok((key, same.map(|step| step.results.as_str())))
    }

    /// Notes a step that passed, at once: a run that is stopped keeps what it did.
    pub(super) fn note(&mut self, name: &str, key: u64, output: &str) -> Result<()> {
        let results = output.lines().filter(|line| line.trim_start().starts_with("test result: "));
        let step = Step { key, results: results.collect::<Vec<_>>().join("\n") };
        self.steps.insert(name.to_owned(), step);
        let all: BTreeMap<_, _> =
            self.steps.iter().map(|(name, step)| (name, json!({"key": step.key, "results": step.results}))).collect();
        fs::write(&self.path, serde_json::to_vec_pretty(&all)?)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Returns the steps in the file; none if it is missing or was not written by this version.
fn steps(path: &Path) -> BTreeMap<String, Step> {
    let step = |value: &Value| {
        Some(Step { key: value.get("key")?.as_u64()?, results: value.get("results")?.as_str()?.to_owned() })
    };
    let all: Option<BTreeMap<String, Value>> =
        fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    all.into_iter().flatten().filter_map(|(name, value)| Some((name, step(&value)?))).collect()
}

/// The hash of the work tree, the compiler, the variables and the day.
fn common(root: &Path, target: &Path) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    hash_tree(root, target, &mut hasher)?;
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Command::new(rustc).arg("-vV").output().context("cannot run rustc")?.stdout.hash(&mut hasher);
    let is_meant = |name: &str| VARIABLES.iter().any(|prefix| name.starts_with(prefix));
    let mut variables: Vec<_> = env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_meant)).collect();
    variables.sort();
    variables.hash(&mut hasher);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs() / 86_400).hash(&mut hasher);
    Ok(hasher.finish())
}

/// Hashes names and contents below a directory, except `target` and names that begin with a dot.
fn hash_tree(directory: &Path, target: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    let cannot = || format!("cannot read {}", directory.display());
    let entries = fs::read_dir(directory).with_context(cannot)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>().with_context(cannot)?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default();
        if path == target || name.to_string_lossy().starts_with('.') || name == "target" {
            continue;
        }
        name.hash(hasher);
        match path.is_dir() {
            true => hash_tree(&path, target, hasher)?,
            false => fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?.hash(hasher),
        }
    }
    Ok(())
}

/// The hash of a command: its program with its content, its arguments and variables.
fn key(common: u64, command: &Command) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    let program = Path::new(command.get_program());
    (common, program).hash(&mut hasher);
    // Cargo itself is found by name; the compiler's version stands for it.
    if program.is_absolute() {
        fs::read(program).with_context(|| format!("cannot read {}", program.display()))?.hash(&mut hasher);
    }
    command.get_args().for_each(|argument| argument.hash(&mut hasher));
    command.get_envs().for_each(|variable| variable.hash(&mut hasher));
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_counts_only_if_nothing_has_changed() {
        let folder = env::temp_dir().join(format!("fpstore-passed-{}", std::process::id()));
        let (root, target) = (folder.join("root"), folder.join("root/target"));
        fs::create_dir_all(&target).unwrap();
        let (source, program) = (root.join("source.rs"), target.join("program"));
        let write = |path: &Path, text: &str| fs::write(path, text).unwrap();
        write(&source, "one");
        write(&program, "one");
        let read = || Passed {
            path: target.join("passed.json"),
            common: common(&root, &target).unwrap(),
            steps: steps(&target.join("passed.json")),
        };
        let job = |argument: &str| {
            let mut command = Command::new(&program);
            command.arg(argument);
            Job { name: "step".to_owned(), command }
        };
        let found = |argument: &str| read().look_up(&job(argument)).unwrap().1.map(str::to_owned);
        let pass = || {
            let mut passed = read();
            let (key, _) = passed.look_up(&job("a")).unwrap();
            passed.note("step", key, "running 1 test\ntest result: ok. 1 passed; 0 failed\n").unwrap();
        };
        assert_eq!(found("a"), None);
        pass();
        assert_eq!(found("a").as_deref(), Some("test result: ok. 1 passed; 0 failed"));
        assert_eq!(found("b"), None);
        for file in [&source, &program] {
            pass();
            write(file, "two");
            assert_eq!(found("a"), None, "{}", file.display());
        }
        pass();
        write(&root.join("more.rs"), "");
        assert_eq!(found("a"), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
