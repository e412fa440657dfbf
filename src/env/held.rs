//! Protects a store against writes of a process whose directory was replaced.
//!
//! A directory can be moved away and another one put in its place while a process writes to the store in it. Paths then lead
//! to another store. So before a name in the directory is made, replaced or removed, the lock file at its path has to be the
//! one that this process holds.

use crate::env::traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile};
use crate::error::Displaced;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// Forwards to another environment, and refuses changes in a directory whose lock is not held any more.
#[derive(Debug)]
pub(crate) struct Held {
    inner: Arc<dyn Env>,
    directory: PathBuf,
    /// The path of the lock file.
    path: PathBuf,
    /// Dropped when the store is closed.
    lock: Weak<dyn LockFile>,
}

impl Held {
    /// Guards a directory; `lock` is held on the file at `path`.
    pub(crate) fn new(inner: &Arc<dyn Env>, directory: &Path, path: PathBuf, lock: &Arc<dyn LockFile>) -> Self {
        Self { inner: Arc::clone(inner), directory: directory.to_owned(), path, lock: Arc::downgrade(lock) }
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
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.absolute(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.inner.list(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.check(path)?;
        self.inner.create(path)
    }

    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        self.inner.open(path, mode)
    }

    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.check(path)?;
        self.inner.create_log(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check(from)?;
        self.inner.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.check(path)?;
        self.inner.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>> {
        self.inner.lock(path)
    }

    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>> {
        self.inner.scratch(directory)
    }

    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        self.inner.free_bytes(directory)
    }

    fn available_memory(&self) -> Option<u64> {
        self.inner.available_memory()
    }
}
