//! The directory of a run: its intermediate files, and how far it has come. The same command continues from there.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fpstore_tools::notice;
use fpstore_tools::number::count_of;
use serde::{Deserialize, Serialize};

const STATE: &str = "state.json";

/// Message about inputs that are not those that were hashed.
pub(super) const CHANGED: &str = "the inputs have changed while the program ran; start it again";

/// What is left to do first.
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

/// How far a run has come. What it counts is durable.
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

/// The directory.
pub(super) struct Work {
    directory: PathBuf,
    pub(super) state: State,
    /// Whether there is something to continue from.
    saved: bool,
    /// Holds the lock.
    _lock: File,
}

impl Work {
    /// Makes the directory, or continues a run of the same identity in it.
    pub(super) fn open(directory: PathBuf, identity: &str) -> anyhow::Result<Self> {
        let named = || directory.display().to_string();
        fs::create_dir_all(&directory).with_context(named)?;
        let lock = File::create(directory.join("lock")).with_context(named)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{}: another run works here; wait for it", named()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(named),
        }
        let state = fs::read(directory.join(STATE)).ok();
        let state = match state.map(|bytes| serde_json::from_slice::<State>(&bytes)) {
            Some(Ok(state)) if state.identity == identity => {
                if state.documents > 0 {
                    let read = count_of(state.documents, "document");
                    notice::say(format_args!("continuing the run that stopped: {read} were hashed"));
                }
                state
            }
            Some(_) => {
                notice::say("the inputs or the options have changed since the run that stopped; starting over");
                State::default()
            }
            None => State::default(),
        };
        let saved = state.documents > 0;
        let mut work = Self { directory, state, saved, _lock: lock };
        work.state.identity = identity.to_owned();
        Ok(work)
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

    /// Records how far the run has come; the files must be durable before.
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
        self.saved = true;
        Ok(())
    }

    /// Goes on to the next step.
    pub(super) fn done(&mut self, next: Step) -> anyhow::Result<()> {
        self.state.step = next;
        self.save()
    }

    /// Removes the directory: the run is complete.
    pub(super) fn remove(self) -> anyhow::Result<()> {
        fs::remove_dir_all(&self.directory).with_context(|| self.directory.display().to_string())
    }
}
