//! Installs what a platform needs and the machine lacks, as `.ci/run` does for its own needs.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Adds the standard library of a target.
pub(super) fn target(target: &str) -> Result<()> {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let installed = installed.context("there is no rustup to install the standard library of other platforms with")?;
    if String::from_utf8_lossy(&installed.stdout).lines().any(|line| line == target) {
        return Ok(());
    }
    done(Command::new("rustup").args(["target", "add", target]), &format!("rustup target add {target}"))
}

/// Installs the Debian packages of a program, unless it is there.
pub(super) fn program(program: &str, packages: &str) -> Result<()> {
    if is_there(program) {
        return Ok(());
    }
    let by_hand = format!("apt-get install {packages}");
    if !is_there("apt-get") {
        bail!("{program} is missing; on Debian, `{by_hand}` installs it");
    }
    // Root needs no sudo, and may not have it.
    let prefix: &[&str] = if is_root() { &["env"] } else { &["sudo", "env"] };
    let (first, rest) = prefix.split_first().context("an empty prefix")?;
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(first);
        command.args(rest).args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]).args(arguments);
        command
    };
    done(&mut apt(&["update", "-qq"]), &by_hand)?;
    let mut install = apt(&["install", "-y", "-qq", "--no-install-recommends"]);
    done(install.args(packages.split(' ')), &by_hand)
}

fn done(command: &mut Command, by_hand: &str) -> Result<()> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        _ => bail!("something is missing that could not be installed; `{by_hand}` installs it"),
    }
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}
