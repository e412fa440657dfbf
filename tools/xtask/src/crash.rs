//! `cargo xtask crash`: many power failures of recorded processes.
//!
//! The test is `tests/crash`; it takes the number of states and the seed from the environment.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::options;
use crate::workspace::{SUITE, Workspace, announce};

/// Default number of states, also of `cargo xtask test --long`.
const STATES: u64 = 10_000;

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let (states, seed) = parse(arguments)?;
    let workspace = Workspace::find()?;
    // With the features of the whole workspace, as `cargo xtask test` has built it.
    let what = ["test", "--profile", SUITE, "--workspace", "--test", "crash", "--", "--nocapture"];
    let mut command = workspace.cargo(&what);
    set(&mut command, states, seed);
    announce(&workspace, &command)?;
    let status = command.status().context("cannot run cargo")?;
    if !status.success() {
        bail!("power failures of recorded processes broke a promise, or could not be tried ({status})");
    }
    Ok(())
}

/// Sets what `cargo xtask test --long` asks of the test.
pub(crate) fn set_long(test: &mut Command) {
    set(test.arg("--nocapture"), STATES, 1);
}

fn set(test: &mut Command, states: u64, seed: u64) {
    test.env("FPSTORE_STATES", states.to_string()).env("FPSTORE_SEED", seed.to_string());
}

/// Returns the number of states and the seed.
fn parse(arguments: &[&str]) -> Result<(u64, u64)> {
    let (mut states, mut seed) = (STATES, 1);
    options::each(arguments, |name, value| match name {
        "--states" => options::set(&mut states, value),
        "--seed" => options::set(&mut seed, value),
        _ => Ok(false),
    })?;
    Ok((states, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options() {
        assert_eq!(parse(&[]).unwrap(), (STATES, 1));
        assert_eq!(parse(&["--seed", "7", "--states", "50"]).unwrap(), (50, 7));
        for bad in [&["--seed"][..], &["--states", "many"], &["--swords", "3"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
