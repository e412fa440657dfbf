//! Environments of Python below `target/python`, with pinned packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// Where the package is.
pub(super) const PACKAGE: &str = "bindings/python";

/// An environment.
pub(super) struct Environment(PathBuf);

/// The file of the packages of an environment.
pub(super) fn requirements(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root.join(PACKAGE).join("requirements").join(format!("{name}.txt"))
}

impl Environment {
    /// The environment with the packages of a file. It is made again when the file has changed.
    pub(super) fn of(workspace: &Workspace, name: &str) -> Result<Self> {
        let file = requirements(workspace, name);
        let wanted = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let place = workspace.target.join("python").join(name);
        let made = place.join("requirements.txt");
        if fs::read_to_string(&made).is_ok_and(|found| found == wanted) {
            return Ok(Self(place));
        }
        let environment = Self::empty(workspace, name, "python3".as_ref())?;
        let mut install = environment.module("pip");
        install.args(["install", "--quiet", "--disable-pip-version-check", "-r"]).arg(&file);
        run(install)?;
        fs::write(&made, wanted)?;
        Ok(environment)
    }

    /// An environment of an interpreter, without packages.
    pub(super) fn empty(workspace: &Workspace, name: &str, interpreter: &Path) -> Result<Self> {
        let place = workspace.target.join("python").join(name);
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        let mut make = Command::new(interpreter);
        make.args(["-m", "venv"]).arg(&place);
        run(make)?;
        Ok(Self(place))
    }

    /// A command that runs a module in the environment.
    pub(super) fn module(&self, name: &str) -> Command {
        let mut command = self.python();
        command.args(["-m", name]);
        command
    }

    /// The interpreter of the environment.
    pub(super) fn python(&self) -> Command {
        Command::new(self.programs().join(if cfg!(windows) { "python.exe" } else { "python" }))
    }

    /// The directory of its programs.
    pub(super) fn programs(&self) -> PathBuf {
        self.0.join(if cfg!(windows) { "Scripts" } else { "bin" })
    }
}

fn run(mut command: Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    ensure!(
        status.success(),
        "{} failed; `cargo xtask python` needs python3 with venv, and PyPI",
        command.get_program().display()
    );
    Ok(())
}
