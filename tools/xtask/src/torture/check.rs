//! Checks the content of a store after a disturbance.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::cases::Case;
use super::stage::{self, Stage, names, succeeds};
use super::state::{State, segments};

/// The state of a store after a disturbance.
pub(super) struct Found {
    pub(super) committed: bool,
    pub(super) leftovers: u64,
}

/// Returns the files in the store's directory that are not part of the store.
fn foreign_files(stage: &Stage, store: &Path) -> Result<Vec<String>> {
    let mut all = names(store)?;
    let mut own = vec!["MANIFEST".to_owned(), "LOCK".to_owned()];
    if all.iter().any(|name| name == "MANIFEST") {
        own.extend(segments(stage, store)?);
    } else {
        // Without a manifest only the lock is expected.
        own.remove(0);
    }
    all.retain(|name| !own.contains(name));
    Ok(all)
}

/// Checks a store after a disturbance.
pub(super) fn after_end(stage: &Stage, case: &Case, store: &Path, temporary: Option<&Path>) -> Result<Found> {
    let mut leftovers = foreign_files(stage, store)?.len() as u64;
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

/// Repeats the load undisturbed; returns its duration if it did all the work.
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
        // A writer without work also removes leftovers.
        succeeds(stage.fpload().arg("--compact").arg(store))?;
    } else {
        succeeds(&mut case.load(stage, store, temporary)).context("the next run")?;
    }
    let duration = begun.elapsed();
    let state = State::of(stage, store)?;
    if !state.same_records(&case.after) || (case.compacts() && state.segments != case.after.segments) {
        bail!("after the next run: {state:?}, expected {:?}", case.after);
    }
    let mut left = foreign_files(stage, store)?;
    if let Some(directory) = temporary {
        left.extend(names(directory)?);
    }
    if !left.is_empty() {
        bail!("temporary files remain after the next run: {left:?}");
    }
    Ok((!found.committed).then_some(duration))
}

/// Checks that creation over an existing store is refused.
fn refused(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    if output.status.code() != Some(2) {
        bail!("creation over a store: {}", output.status);
    }
    Ok(())
}

/// Copies a store with a violation, to keep it.
pub(super) fn keep(stage: &Stage, store: &Path, number: u64) -> Result<String> {
    let aside = stage.path(&format!("violation-{number}"));
    stage::copy(store, &aside)?;
    Ok(aside.display().to_string())
}
