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

    /// The inner environment, to change a path; refused in the directory if that was replaced.
    fn to_change(&self, path: &Path) -> io::Result<&dyn Env> {
        let is_held = path.parent() != Some(&self.directory)
            || self.lock.upgrade().map_or(Ok(false), |lock| lock.is_at(&self.path))?;
        if is_held { Ok(&*self.inner) } else { Err(io::Error::other(Displaced)) }
    }
}

impl Env for Held {
    forward! { self => self.inner;
        absolute(path: &Path) -> io::Result<PathBuf>;
        create_dir(path: &Path) -> io::Result<()>;
        remove_dir(path: &Path) -> io::Result<()>;
        list(path: &Path) -> io::Result<Vec<String>>;
        open(path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>>;
        sync_dir(path: &Path) -> io::Result<()>;
        lock(path: &Path) -> io::Result<Arc<dyn LockFile>>;
        scratch(directory: &Path) -> io::Result<Box<dyn ScratchFile>>;
        free_bytes(directory: &Path) -> Option<u64>;
        available_memory() -> Option<u64>;
    }

    forward! { self => self.to_change(path)?;
        create(path: &Path) -> io::Result<Box<dyn WriteFile>>;
        create_log(path: &Path) -> io::Result<Box<dyn LogFile>>;
        rename(path: &Path, to: &Path) -> io::Result<()>;
        hard_link(from: &Path, path: &Path) -> io::Result<()>;
        remove(path: &Path) -> io::Result<()>;
    }
}
