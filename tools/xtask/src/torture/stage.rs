//! The directories of a run, and running the programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use super::options::Options;
use crate::workspace::Workspace;

/// The directories and programs of one run.
pub(super) struct Stage {
    pub(super) root: PathBuf,
    pub(super) seed: u64,
    fpload: PathBuf,
    fpdump: PathBuf,
}

impl Stage {
    pub(super) fn new(options: &Options) -> Result<Self> {
        let (fpload, fpdump) = match &options.programs {
            Some(directory) => (directory.join("fpload"), directory.join("fpdump")),
            None => {
                let programs = Workspace::find()?.build("fpstore-tools")?;
                (programs.get("fpload")?.to_owned(), programs.get("fpdump")?.to_owned())
            }
        };
        let above = options.directory.clone().unwrap_or_else(std::env::temp_dir);
        let root = above.join(format!("fpstore-torture-{}", std::process::id()));
        fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
        Ok(Self { root, seed: options.seed, fpload, fpdump })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(super) fn fpload(&self) -> Command {
        let mut command = Command::new(&self.fpload);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    pub(super) fn fpdump(&self) -> Command {
        let mut command = Command::new(&self.fpdump);
        command.stdin(Stdio::null());
        command
    }
}

/// Runs a program that must succeed.
pub(super) fn succeeds(command: &mut Command) -> Result<Output> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output)
}

/// Creates an empty directory, in place of an old one.
pub(super) fn fresh(path: &Path) -> Result<()> {
    remove(path)?;
    fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))
}

/// Removes a directory, if it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Copies a store, which has no subdirectories.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fresh(to)?;
    for name in names(from)? {
        fs::copy(from.join(&name), to.join(&name)).with_context(|| format!("cannot copy to {}", to.display()))?;
    }
    Ok(())
}

/// Returns the sorted names in a directory; none if it does not exist.
pub(super) fn names(directory: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot list {}", directory.display()))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Returns the bytes of all files in a directory.
pub(super) fn bytes(directory: &Path) -> Result<u64> {
    names(directory)?.iter().map(|name| Ok(fs::metadata(directory.join(name))?.len())).sum()
}
