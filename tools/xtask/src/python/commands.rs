//! Commands of the package for Python.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{Workspace, announce};

/// Tells tests where the programs are.
pub(super) fn with_programs(mut tests: Command, programs: &Path) -> Command {
    tests.env("FPSTORE_PROGRAMS", programs).env("PYTHONDONTWRITEBYTECODE", "1");
    tests
}

/// Runs a command, which has to succeed.
pub(super) fn succeed(workspace: &Workspace, mut command: Command) -> Result<()> {
    announce(workspace, &command)?;
    let status = command.status().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !status.success() {
        bail!("{} failed ({status})", command.get_program().display());
    }
    Ok(())
}
