//! The context and the progress of a long operation on a store.

use crate::env::Env;
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::extsort::Workspace;
use crate::fingerprint::Fingerprint;
use crate::version::Snapshot;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Default memory in bytes.
const MEMORY: u64 = 1 << 30;

/// Memory, a directory for temporary files, and the progress of one piece of work.
#[derive(Debug)]
pub(crate) struct JobContext {
    pub(crate) env: Arc<dyn Env>,
    pub(crate) executor: Arc<Executor>,
    pub(crate) memory: u64,
    temp_dir: PathBuf,
    pub(crate) progress: Progress,
}

impl JobContext {
    pub(crate) fn new<F: Fingerprint>(snapshot: &Snapshot<F>) -> Self {
        let options = &snapshot.context().options;
        let temp_dir = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let (env, executor) = (Arc::clone(&options.env), Arc::clone(&options.executor));
        Self { env, executor, memory: MEMORY, temp_dir, progress: Progress::default() }
    }

    pub(crate) fn in_directory(mut self, directory: &Path) -> Self {
        directory.clone_into(&mut self.temp_dir);
        self
    }

    pub(crate) fn workspace(&self, memory: u64) -> Workspace {
        let (env, executor) = (Arc::clone(&self.env), Arc::clone(&self.executor));
        Workspace { env, executor, directory: self.temp_dir.clone(), memory }
    }
}

/// For another piece of work, with a progress of its own.
impl Clone for JobContext {
    fn clone(&self) -> Self {
        let (env, executor) = (Arc::clone(&self.env), Arc::clone(&self.executor));
        Self { env, executor, temp_dir: self.temp_dir.clone(), memory: self.memory, progress: Progress::default() }
    }
}

/// The progress of long work; any thread may ask for it.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    done: AtomicU64,
    total: AtomicU64,
    stopped: AtomicBool,
}

impl Progress {
    /// The share of the work that is done, 0 to 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn share(&self) -> f64 {
        (self.0.done.load(Relaxed) as f64 / self.0.total.load(Relaxed).max(1) as f64).min(1.0)
    }

    /// Ends the work soon, with an error of kind [`crate::ErrorKind::Stopped`].
    pub fn stop(&self) {
        self.0.stopped.store(true, Relaxed);
    }

    /// Whether [`Progress::stop`] was called.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Relaxed)
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::stopped()) } else { Ok(()) }
    }

    pub(crate) fn begin(&self, total: u64) {
        self.0.done.store(0, Relaxed);
        self.0.total.store(total, Relaxed);
    }

    pub(crate) fn advance(&self, done: u64) {
        self.0.done.fetch_add(done, Relaxed);
    }
}
