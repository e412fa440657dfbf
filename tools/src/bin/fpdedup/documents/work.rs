//! The directory of a run: its intermediate files, and its progress. The same command continues from there.

use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fpstore_tools::notice;
use fpstore_tools::number::count_of;
use serde::{Deserialize, Serialize};

const STATE: &str = "state.json";
const LOCK: &str = "lock";

/// The next step of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Step {
    #[default]
    Hash,
    Compare,
    Verify,
    Write,
}

/// The kind of the documents' ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum IdsAre {
    /// There was no document yet.
    #[default]
    Unknown,
    /// Documents have none.
    None,
    Numbers,
    /// Some are texts.
    Texts,
}

/// Durable progress of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    /// The options and the inputs.
    identity: String,
    pub(super) step: Step,
    /// Number of documents that were read, including those left out.
    pub(super) documents: u64,
    /// Number of documents without a fingerprint, which stay.
    pub(super) without: u64,
    /// Number of documents that cannot be read.
    pub(super) left_out: u64,
    /// Bytes of texts.
    pub(super) text_bytes: u64,
    /// Bytes of ids.
    pub(super) id_bytes: u64,
    pub(super) ids: IdsAre,
    /// Seconds of each step so far.
    pub(super) seconds: [f64; 4],
}

/// The directory of a run, in the directory of all runs for an output. Its name is a checksum of what the run depends
/// on, so that a run with other options does not touch it before it has a result of its own.
pub(super) struct Work {
    base: PathBuf,
    directory: PathBuf,
    pub(super) state: State,
    /// Whether there is something to continue from.
    saved: bool,
    /// Holds the lock.
    _lock: File,
}

impl Work {
    /// Makes the directory, or continues a run of the same identity in it.
    pub(super) fn open(base: PathBuf, identity: &str) -> anyhow::Result<Self> {
        let mut hasher = DefaultHasher::new();
        identity.hash(&mut hasher);
        let directory = base.join(format!("{:016x}", hasher.finish()));
        let named = || directory.display().to_string();
        fs::create_dir_all(&directory).with_context(named)?;
        let Some(lock) = locked(&directory).with_context(named)? else {
            bail!("{}: another run works here; wait for it", named())
        };
        let state = fs::read(directory.join(STATE)).ok();
        let state = state.and_then(|bytes| serde_json::from_slice::<State>(&bytes).ok());
        let state = state.filter(|state| state.identity == identity).unwrap_or_default();
        if state.documents > 0 {
            let read = count_of(state.documents, "document");
            notice::say(format_args!("continuing the run that stopped: {read} were hashed"));
        }
        let saved = state.documents > 0;
        let mut work = Self { base, directory, state, saved, _lock: lock };
        if !saved && work.others().next().is_some() {
            notice::say("the inputs or the options have changed since the run that stopped; starting over");
        }
        work.state.identity = identity.to_owned();
        Ok(work)
    }

    /// The directories of other runs for the same output.
    fn others(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.base).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.filter(|path| *path != self.directory && path.join(LOCK).is_file())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether there is something to continue from.
    pub(super) fn is_saved(&self) -> bool {
        self.saved
    }

    /// Records the progress; the files must be durable before.
    pub(super) fn save(&mut self) -> anyhow::Result<()> {
        let (path, new) = (self.path(STATE), self.path("state.json.new"));
        let save = || -> std::io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(&serde_json::to_vec(&self.state)?)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            #[cfg(unix)]
            File::open(&self.directory)?.sync_all()?;
            Ok(())
        };
        save().with_context(|| path.display().to_string())?;
        if !self.saved {
            // Earlier runs in which no program works.
            for other in self.others() {
                if let Ok(Some(_lock)) = locked(&other) {
                    let _ = remove_run(&other);
                }
            }
            self.saved = true;
        }
        Ok(())
    }

    /// Goes on to the next step.
    pub(super) fn done(&mut self, next: Step) -> anyhow::Result<()> {
        self.state.step = next;
        self.save()
    }

    /// Removes the directory of the run, and that of all runs if there is no other one.
    pub(super) fn remove(self) -> anyhow::Result<()> {
        remove_run(&self.directory).with_context(|| self.directory.display().to_string())?;
        // It may hold other runs, or files that are not ours.
        let _ = fs::remove_dir(&self.base);
        Ok(())
    }
}

/// Removes the directory of a run. The state goes first: a later run that found it without the other files would fail.
/// The lock goes last: without it no later run would know that this is the directory of a run.
fn remove_run(directory: &Path) -> std::io::Result<()> {
    match fs::remove_file(directory.join(STATE)) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    // All are listed first: what is removed while a directory is read may hide others.
    for entry in fs::read_dir(directory)?.collect::<Vec<_>>() {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else if !path.ends_with(LOCK) {
            fs::remove_file(path)?;
        }
    }
    fs::remove_dir_all(directory)
}

/// Locks the directory of a run; `None` if another program works there.
fn locked(directory: &Path) -> std::io::Result<Option<File>> {
    let lock = File::create(directory.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
