//! `cargo xtask bench`: measures the first table of BENCHMARKS.md beside peers (`benches/headline.py`).

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::say::say;
use crate::workspace::Workspace;

/// Prints the table as Markdown, and draws it in the target directory.
pub(crate) fn run(is_quick: bool) -> Result<()> {
    let workspace = Workspace::find()?;
    let plot = workspace.target.join("headline.svg");
    let status = Command::new("python3")
        .arg(workspace.root.join("benches/headline.py"))
        .args(is_quick.then_some("--quick"))
        .arg("--plot")
        .arg(&plot)
        .env("CARGO_TARGET_DIR", &workspace.target)
        .status()
        .context("cannot run python3; install it, it runs the peers")?;
    if !status.success() {
        bail!("benches/headline.py failed; `cargo xtask bench` needs python3 with venv, and PyPI");
    }
    say(&format!("\n{}", workspace.short(&plot).display()))
}
