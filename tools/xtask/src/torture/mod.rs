//! `cargo xtask torture`: loads that are killed, interrupted, or run out of disk space, a hundred times each.
//!
//! A load is all or nothing. After each disturbance, the store must be as before or as after the whole load; `fpdump
//! verify` must find no damage; a store that was to be created must be absent or complete; and the same load must
//! succeed when it is repeated, and leave no temporary files. A violation ends the run with an error that names the
//! case, the moment and the store, and the directory is kept.

mod cases;
mod check;
mod disk;
mod inputs;
mod options;
mod signals;
mod stage;
mod state;
mod tally;

use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::say::say;
use options::Options;
use stage::Stage;
use tally::Tally;

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let options = Options::parse(arguments)?;
    let begun = Instant::now();
    let stage = Stage::new(&options)?;
    say(&format!("Preparing in {} ...", stage.root.display()))?;
    let mut cases = cases::prepare(&stage, options.records)?;
    for case in &cases {
        let (name, seconds) = (case.name, case.duration.as_secs_f64());
        say(&format!("  {name}: {seconds:.1} s undisturbed, {}", case.about))?;
    }
    let tallies = [
        signals::run(&stage, &mut cases, signals::Signal::Kill, options.kills)?,
        signals::run(&stage, &mut cases, signals::Signal::Interrupt, options.interrupts)?,
        disk::run(&stage, &cases, options.disks)?,
    ];
    let (prepared, seconds) = (options.records, begun.elapsed().as_secs_f64());
    say(&format!("\nTorture: seed {}, up to {prepared} records a load, {seconds:.0} s", options.seed))?;
    for tally in &tallies {
        say(&tally.line())?;
    }
    let violations: Vec<&String> = tallies.iter().flat_map(Tally::violations).collect();
    if violations.is_empty() {
        fs::remove_dir_all(&stage.root).with_context(|| format!("cannot remove {}", stage.root.display()))?;
        return say("No violation.");
    }
    for violation in &violations {
        say(&format!("VIOLATION: {violation}"))?;
    }
    bail!("{} violations; their files are in {}", violations.len(), stage.root.display())
}
