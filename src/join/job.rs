//! What long work over a store may use, and how far it is.

use crate::env::Env;
use crate::error::Result;
use crate::executor::Executor;
use crate::extsort::Workspace;
use crate::fingerprint::Fingerprint;
use crate::join::progress::JoinProgress;
use crate::version::Snapshot;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory of work that is not told how much it may take, in bytes.
const MEMORY: u64 = 1 << 30;

/// Memory, a place for temporary files, and the progress of one piece of work.
#[derive(Debug)]
pub(crate) struct JobContext {
    pub(crate) env: Arc<dyn Env>,
    pub(crate) executor: Arc<Executor>,
    /// Bytes.
    pub(crate) memory: u64,
    temp_dir: PathBuf,
    pub(crate) progress: Progress,
}

impl JobContext {
    /// Those of work over a store that is told nothing else.
    pub(crate) fn new<F: Fingerprint>(snapshot: &Snapshot<F>) -> Self {
        let options = &snapshot.context().options;
        let temp_dir = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let (env, executor) = (Arc::clone(&options.env), Arc::clone(&options.executor));
        Self { env, executor, memory: MEMORY, temp_dir, progress: Progress::default() }
    }

    /// The same with temporary files in this directory.
    pub(crate) fn in_directory(mut self, directory: &Path) -> Self {
        directory.clone_into(&mut self.temp_dir);
        self
    }

    /// For something that sorts within so many bytes.
    pub(crate) fn workspace(&self, memory: u64) -> Workspace {
        let (env, executor) = (Arc::clone(&self.env), Arc::clone(&self.executor));
        Workspace { env, executor, directory: self.temp_dir.clone(), memory }
    }
}

/// For another piece of work, whose progress is its own.
impl Clone for JobContext {
    fn clone(&self) -> Self {
        let (env, executor) = (Arc::clone(&self.env), Arc::clone(&self.executor));
        Self { env, executor, temp_dir: self.temp_dir.clone(), memory: self.memory, progress: Progress::default() }
    }
}

/// How far work is; may be looked at from other threads.
#[derive(Clone, Debug, Default)]
pub struct Progress(pub(crate) Arc<JoinProgress>);

impl Progress {
    /// The share of the work that is done, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.0.share()
    }

    /// Has the work end soon, with an error of kind [`crate::ErrorKind::Stopped`].
    pub fn stop(&self) {
        self.0.stop();
    }

    /// As long as nobody had it stop.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.check()
    }
}
