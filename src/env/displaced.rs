//! Protects a store against writes of a process whose directory was replaced.
//!
//! A directory can be moved away and another one put in its place while a process writes to the store in it. Paths then
//! lead to another store. So before a name in the directory is made, replaced or removed, the lock file at its path has
//! to be the one that this process holds.

use crate::env::traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile, forward};
use crate::error::Displaced;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// Forwards to another environment, and refuses changes in a directory whose lock is not held any more.
#[derive(Debug)]
pub(crate) struct Held {
    inner: Arc<dyn Env>,
    directory: PathBuf,
    path: PathBuf,
    /// Dropped when the store is closed.
    lock: Weak<dyn LockFile>,
}

impl Held {
    /// Guards a directory; `lock` is held on the file at `path`.
    pub(crate) fn new(inner: &Arc<dyn Env>, directory: &Path, path: PathBuf, lock: &Arc<dyn LockFile>) -> Self {
        Self { inner: Arc::clone(inner), directory: directory.to_owned(), path, lock: Arc::downgrade(lock) }
    }

    #[expect(clippy::unnecessary_wraps, reason = "for `forward`")]
    fn env(&self) -> io::Result<&dyn Env> {
        Ok(&*self.inner)
    }

    /// Refuses to change a path in the directory if the directory was replaced.
    fn check(&self, path: &Path) -> io::Result<()> {
        if path.parent() != Some(&self.directory) {
            return Ok(());
        }
        let is_held = self.lock.upgrade().map_or(Ok(false), |lock| lock.is_at(&self.path))?;
        if is_held { Ok(()) } else { Err(io::Error::other(Displaced)) }
    }
}

impl Env for Held {
    forward! { env:
        absolute(path: &Path) -> PathBuf;
        create_dir(path: &Path) -> ();
        remove_dir(path: &Path) -> ();
        list(path: &Path) -> Vec<String>;
        open(path: &Path, mode: ReadMode) -> Box<dyn ReadFile>;
        hard_link(from: &Path, to: &Path) -> ();
        sync_dir(path: &Path) -> ();
        lock(path: &Path) -> Arc<dyn LockFile>;
        scratch(directory: &Path) -> Box<dyn ScratchFile>;
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.check(path)?;
        self.inner.create(path)
    }

    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.check(path)?;
        self.inner.create_log(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check(from)?;
        self.inner.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.check(path)?;
        self.inner.remove(path)
    }

    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        self.inner.free_bytes(directory)
    }

    fn available_memory(&self) -> Option<u64> {
        self.inner.available_memory()
    }
}
