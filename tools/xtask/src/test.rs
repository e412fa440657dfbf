//! `cargo xtask test`: builds everything once, runs all tests, and ends with a summary and the times.
//!
//! A failed step does not stop later steps, so one run shows all failures. The short run takes a part of the points of
//! the long sweeps (`tests/it/points.rs`); `--long` takes all, adds the benches in test mode, 10,000 power failures of
//! recorded processes and the endurance of the package for Python, packs the crates, and looks at other platforms. A step that passed before is not run again
//! while nothing has changed (`passed.rs`).

mod binaries;
mod jobs;
mod packages;
mod passed;
mod python;
mod tally;

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::crash;
use crate::platforms;
use crate::timings::Timings;
use crate::workspace::{SUITE, Workspace};
use binaries::TestBinary;
use jobs::Job;
use passed::Passed;
use tally::Tally;

/// Longest time of one step, several times what the slowest takes on two cores.
const LIMIT: Duration = Duration::from_secs(25 * 60);
/// The same for the long run.
const LONG_LIMIT: Duration = Duration::from_secs(4 * 3600);
/// Tests of code for wide registers, which has a plain version too that other machines run.
const WIDE_REGISTERS: [&str; 7] =
    ["codec::", "every_real_value", "every_block_size", "filters::", "golden::", "strict::blocks", "strict::flips"];
/// Tests among them of a decoder that has no such code.
const OTHER_DECODER: [&str; 4] = ["--skip", "the_specifications_decoder", "--skip", "stores_of_other_versions"];

/// Runs every test; all points of the sweeps, and the checks that take minutes, only with `long`; those that passed
/// before, although nothing has changed, only with `again`.
pub(crate) fn run(long: bool, again: bool) -> Result<()> {
    let workspace = Workspace::find()?;
    let notice = python::notice(env::var_os("CI").as_deref())?;
    say(notice)?;

    let mut timings = Timings::start();
    let binaries = timings.step("build of tests and programs", || binaries::build(&workspace, long))?;
    let mut jobs = tests(&workspace, &binaries, long);
    let programs = workspace.target.join(SUITE);
    jobs.extend(timings.step("build of the module for Python", || python::jobs(&workspace, &programs, long))?);
    jobs.extend(timings.step("build of the examples", || examples(&workspace))?);

    let mut tally = Tally::default();
    let mut failed = Vec::new();
    let mut passed = Passed::read(&workspace.root, &workspace.target, again)?;
    let (mut keys, mut left) = (BTreeMap::new(), Vec::new());
    for job in jobs {
        let (key, results) = passed.look_up(&job)?;
        let Some(results) = results else {
            keys.insert(job.name.clone(), key);
            left.push(job);
            continue;
        };
        results.lines().for_each(|line| tally.add(line));
        say(&format!("== {}: passed before, and nothing has changed (`--again` runs it)", job.name))?;
    }
    jobs::run(left, if long { LONG_LIMIT } else { LIMIT }, |ended| {
        ended.output.lines().for_each(|line| tally.add(line));
        if let Some(key) = keys.get(&ended.name).filter(|_| ended.succeeded) {
            passed.note(&ended.name, *key, &ended.output)?;
        }
        say(&format!("\n== {}\n{}", ended.name, ended.output.trim_end()))?;
        timings.add(&ended.name, ended.took);
        if !ended.succeeded {
            failed.push(ended.name);
        }
        Ok(())
    })?;
    if long {
        failed.extend(timings.step("packages", || packages::run(&workspace))?);
        failed.extend(timings.step("other platforms", || platforms::run(&workspace))?);
    }

    say(&format!("\n{}", timings.text()))?;
    if failed.is_empty() {
        say(&format!("\nAll tests passed: {}", tally.text()))?;
        return say(notice);
    }
    for test in &tally.failures {
        say(&format!("FAILED: {test}"))?;
    }
    bail!("FAILED: {} ({})", failed.join(", "), tally.text());
}

/// Every step but the examples, the longest first.
fn tests(workspace: &Workspace, binaries: &[TestBinary], long: bool) -> Vec<Job> {
    let mut jobs = Vec::new();
    for binary in binaries {
        jobs.push(Job { name: binary.name(), command: binary.command() });
        if binary.has_wide_registers() {
            let mut command = binary.command();
            command.args(WIDE_REGISTERS).env("FPSTORE_SIMD", "off");
            if !long {
                command.args(OTHER_DECODER);
            }
            jobs.push(Job { name: format!("{} without wide registers", binary.name()), command });
        }
        if long && binary.is_crash() {
            let mut command = binary.command();
            crash::set_long(&mut command);
            jobs.push(Job { name: "power failures of recorded processes".to_owned(), command });
        }
    }
    let documentation = workspace.cargo(&["test", "--profile", SUITE, "--workspace", "--doc", "--no-fail-fast"]);
    jobs.push(Job { name: "documentation tests".to_owned(), command: documentation });
    for job in &mut jobs {
        match long {
            true => job.command.env("FPSTORE_LONG", "1"),
            // For proptest: every run takes other cases, and records those that fail.
            false if env::var_os("PROPTEST_CASES").is_none() => job.command.env("PROPTEST_CASES", "32"),
            false => &mut job.command,
        };
    }
    let longest =
        ["fpstore-it: it", "fpstore-tools: cli", "fpstore: unit tests", "documentation tests", "fpstore: crash"];
    jobs.sort_by_key(|job| longest.iter().position(|name| job.name == *name).unwrap_or(longest.len()));
    jobs
}

/// Builds the examples of the library.
fn examples(workspace: &Workspace) -> Result<Vec<Job>> {
    let examples = workspace.examples("fpstore");
    if examples.is_empty() {
        bail!("the library has no example to run; there should be some in examples/");
    }
    let built = workspace.build_examples()?;
    let job = |example: &String| {
        let mut command = Command::new(built.get(example)?);
        command.current_dir(&workspace.root);
        Ok(Job { name: format!("example {example}"), command })
    };
    examples.iter().map(job).collect()
}

fn say(text: &str) -> Result<()> {
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}
