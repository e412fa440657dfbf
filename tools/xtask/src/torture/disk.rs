//! Full disks: a small tmpfs for the store, or for the temporary files only.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::cases::Case;
use super::check;
use super::stage::{Stage, bytes, fresh, names, succeeds};
use super::tally::Tally;

/// A disk on which everything fits.
const LARGE: u64 = 4 << 30;

/// A small file system in memory, unmounted on drop.
struct Disk(PathBuf);

impl Disk {
    fn mount(path: PathBuf, size: u64) -> Result<Self> {
        fresh(&path)?;
        succeeds(Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(&path))?;
        Ok(Self(path))
    }

    fn resize(&self, size: u64) -> Result<()> {
        succeeds(Command::new("mount").args(["-o", &format!("remount,size={size}")]).arg(&self.0))?;
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // If it cannot be unmounted, removing the directory fails.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Runs loads on `number` disks, from too small to large enough.
pub(super) fn run(stage: &Stage, cases: &[Case], number: u64) -> Result<Tally> {
    let mut tally = Tally::new("full disks");
    if number == 0 {
        return Ok(tally);
    }
    if let Err(error) = Disk::mount(stage.path("disk"), 1 << 20) {
        return Ok(tally.skip(format!("no file system can be mounted here, that takes root: {error:#}")));
    }
    for n in 0..number {
        let Some(case) = cases.get(usize::try_from(n % cases.len() as u64).unwrap_or(0)) else { break };
        // Every case gets both kinds of disk and different sizes.
        let only_temporary = (n / cases.len() as u64 + n) % 2 == 1 && case.input_bytes > 0;
        let most = case.input_bytes * 5 / 4 + if only_temporary { 0 } else { case.store_bytes * 2 };
        let base = case.base.as_deref().filter(|_| !only_temporary).map_or(Ok(0), bytes)?;
        let size = base + (1 << 20) + most * ((n * 7) % number) / number;
        let what = if only_temporary { "for temporary files" } else { "for all" };
        let moment = format!("disk {n} of '{}', {} KiB {what}", case.name, size >> 10);
        let outcome = one(stage, case, size, only_temporary, &mut tally);
        tally.outcome(&moment, outcome)?;
    }
    Ok(tally)
}

fn one(stage: &Stage, case: &Case, size: u64, only_temporary: bool, tally: &mut Tally) -> Result<String> {
    let disk = Disk::mount(stage.path("disk"), size)?;
    let (store, temporary) = match only_temporary {
        true => (stage.path("store"), Some(disk.0.as_path())),
        false => (disk.0.join("store"), None),
    };
    let temporary: Option<&Path> = temporary;
    case.set_up(&store)?;
    let output = case.load(stage, &store, temporary).output().context("cannot run fpload")?;
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let found = check::after_end(stage, case, &store, temporary)?;
    let beside = names(&disk.0)?.into_iter().filter(|name| name != "store").count();
    if beside > 0 {
        bail!("files remain beside the store");
    }
    let outcome = match (output.status.code(), found.committed) {
        (Some(0), true) => "large enough".to_owned(),
        (Some(2), committed) => {
            // The message comes from the system, or from the estimate before the first byte.
            if !message.contains("No space left") && !message.contains(" are free") {
                bail!("the message does not say that the disk is full: {message}");
            }
            if committed {
                bail!("the program said that it failed, and the load is in the store: {message}");
            }
            message
        }
        (_, committed) => bail!("{}, committed: {committed}: {message}", output.status),
    };
    disk.resize(LARGE)?;
    check::again(stage, case, &store, temporary, &found)?;
    tally.leftovers += found.leftovers;
    match output.status.success() {
        true => tally.finished += 1,
        false => tally.before += 1,
    }
    Ok(outcome)
}
