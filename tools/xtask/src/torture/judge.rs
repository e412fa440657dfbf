//! What a store holds, and whether that is what was promised.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::cases::Case;
use super::stage::{self, Stage, names, succeeds};

/// All records of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) lines: u64,
    hash: u64,
    pub(super) segments: usize,
}

/// What became of a store.
pub(super) struct Found {
    pub(super) committed: bool,
    pub(super) leftovers: u64,
}

impl State {
    /// What `fpdump scan` prints, where `fpdump verify` finds nothing.
    pub(super) fn of(stage: &Stage, store: &Path) -> Result<Self> {
        succeeds(stage.fpdump().arg("verify").arg(store))?;
        let mut child = stage.fpdump().arg("scan").arg(store).stdout(Stdio::piped()).spawn()?;
        let mut out = child.stdout.take().context("there is no output to read")?;
        let (mut hasher, mut lines, mut buffer) = (DefaultHasher::new(), 0, vec![0; 1 << 20]);
        loop {
            let n = out.read(&mut buffer)?;
            let bytes = buffer.get(..n).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            hasher.write(bytes);
            lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        }
        let status = child.wait()?;
        if !status.success() {
            bail!("fpdump scan {} failed ({status})", store.display());
        }
        // How many bytes come at once must not matter.
        Ok(Self { lines, hash: hasher.finish(), segments: segments(stage, store)?.len() })
    }

    fn same_records(&self, other: &Self) -> bool {
        (self.lines, self.hash) == (other.lines, other.hash)
    }
}

/// Files of the segments that the manifest names.
fn segments(stage: &Stage, store: &Path) -> Result<Vec<String>> {
    let output = succeeds(stage.fpdump().args(["info", "--json"]).arg(store))?;
    let info: Value = serde_json::from_slice(&output.stdout).context("fpdump info printed no JSON")?;
    let list = info.get("segments").and_then(Value::as_array).context("fpdump info names no segments")?;
    Ok(list.iter().filter_map(|segment| segment.get("file")?.as_str().map(str::to_owned)).collect())
}

/// What lies in the store's directory and is no part of it.
fn strangers(stage: &Stage, store: &Path) -> Result<Vec<String>> {
    let mut all = names(store)?;
    let mut own = vec!["MANIFEST".to_owned(), "LOCK".to_owned()];
    if all.iter().any(|name| name == "MANIFEST") {
        own.extend(segments(stage, store)?);
    } else {
        // Nothing but the lock, which says nothing.
        own.remove(0);
    }
    all.retain(|name| !own.contains(name));
    Ok(all)
}

/// Looks at a store after a blow.
pub(super) fn after_blow(stage: &Stage, case: &Case, store: &Path, temporary: Option<&Path>) -> Result<Found> {
    let mut leftovers = strangers(stage, store)?.len() as u64;
    if let Some(directory) = temporary {
        leftovers += names(directory)?.len() as u64;
    }
    if File::open(store.join("MANIFEST")).is_err() {
        if case.creates() {
            return Ok(Found { committed: false, leftovers });
        }
        bail!("there is no store any more");
    }
    let state = State::of(stage, store)?;
    let committed = match &case.before {
        _ if state == case.after => true,
        Some(before) if state == *before => false,
        before => bail!("neither before nor after: {state:?}; before {before:?}, after {:?}", case.after),
    };
    Ok(Found { committed, leftovers })
}

/// Runs the same load again, in peace; how long it took if it did all the work.
pub(super) fn again(
    stage: &Stage,
    case: &Case,
    store: &Path,
    temporary: Option<&Path>,
    found: &Found,
) -> Result<Option<Duration>> {
    let begun = Instant::now();
    if case.creates() && found.committed {
        refused(&mut case.load(stage, store, temporary))?;
        // A writer that has nothing to do clears up all the same.
        succeeds(stage.fpload().arg("--compact").arg(store))?;
    } else {
        succeeds(&mut case.load(stage, store, temporary)).context("the next run")?;
    }
    let duration = begun.elapsed();
    let state = State::of(stage, store)?;
    if !state.same_records(&case.after) || (case.compacts() && state.segments != case.after.segments) {
        bail!("after the next run: {state:?}, expected {:?}", case.after);
    }
    let mut left = strangers(stage, store)?;
    if let Some(directory) = temporary {
        left.extend(names(directory)?);
    }
    if !left.is_empty() {
        bail!("temporary files remain after the next run: {left:?}");
    }
    Ok((!found.committed).then_some(duration))
}

/// A creation over a store.
fn refused(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    if output.status.code() != Some(2) {
        bail!("creation over a store: {}", output.status);
    }
    Ok(())
}

/// Puts a store that broke a promise aside.
pub(super) fn keep(stage: &Stage, store: &Path, number: u64) -> Result<String> {
    let aside = stage.path(&format!("violation-{number}"));
    stage::copy(store, &aside)?;
    Ok(aside.display().to_string())
}
