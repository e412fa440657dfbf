//! An open store: the engine, its background threads, and the lock on its directory.

use super::background::Background;
use super::directory::remove_leftovers;
use super::follower::Follower;
use super::recovery::{Recovered, Recovery};
use super::store_inner::StoreInner;
use super::version_set::VersionSet;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::executor::{Rank, RankedMutex};
use crate::options::Options;
use crate::version::{Lock, StoreContext, absolute, check_width, hold, manifest, open_runs};
use crate::wal::Durability;
use std::path::Path;
use std::sync::Arc;

/// From so many logs of earlier processes on, what is in them goes to a segment when a store is opened for writing.
const MOST_LOGS: usize = 8;

/// An open store.
#[derive(Debug)]
pub(crate) struct Handle {
    // The order matters: threads end before the lock goes.
    pub(crate) background: Option<Background>,
    pub(crate) inner: Arc<StoreInner>,
    /// What was found in the logs.
    pub(crate) recovery: Recovery,
    /// What a store that is open for reading only knows of the logs.
    pub(crate) follower: RankedMutex<Option<Follower>>,
    /// Held while the store is open for writing.
    lock: Option<Lock>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.inner.stop();
        drop(self.background.take());
        self.inner.let_go();
        self.inner.forget();
        self.inner.context.obsolete_files.close();
        drop(self.lock.take());
    }
}

impl Handle {
    /// Opens a store for reading and writing.
    ///
    /// # Errors
    /// Those of `Store::open`.
    pub(crate) fn open(path: &Path, options: &Options, width: u32) -> Result<Self> {
        let path = &*absolute(path, options)?;
        // Only a directory that is a store gets a lock file.
        manifest::read_bytes(&*options.env, path)?;
        let (lock, options) = &hold(path, options)?;
        let env = &*options.env;
        // The manifest may be one whose writer died before it could make the rename durable.
        env.sync_dir(path).map_err(|error| Error::io("cannot sync", path, error))?;
        let (manifest, runs) = open_runs(path, options, &[])?;
        check_width(&manifest.parameters, path, width)?;
        let context = StoreContext::new(path, options, &manifest.parameters)?;
        let recovered = Recovered::read(&context, &manifest)?;
        remove_leftovers(env, path, &manifest, None)?;
        let (logs, recovery) = (recovered.logs.len(), recovered.found.clone());
        let (versions, writer) = Writer::after(VersionSet::new(manifest, runs), recovered);
        let inner = Arc::new(StoreInner::new(context, versions, Some(writer)));
        if logs >= MOST_LOGS && inner.flush().is_err() {
            // What fails otherwise is noted, and tried again.
            inner.check_poison()?;
        }
        Self::of(inner, recovery, None, Some(Arc::clone(lock)))
    }

    /// Opens a store for reading.
    ///
    /// # Errors
    /// Those of `Store::open_read_only`.
    pub(crate) fn open_read_only(path: &Path, options: &Options, width: u32) -> Result<Self> {
        let path = absolute(path, options)?;
        let (inner, follower, recovery) = Follower::open(&path, options, width)?;
        Self::of(inner, recovery, Some(follower), None)
    }

    /// Starts the background threads of an engine that has the lock.
    pub(crate) fn of(
        inner: Arc<StoreInner>,
        recovery: Recovery,
        follower: Option<Follower>,
        lock: Option<Lock>,
    ) -> Result<Self> {
        let background = if lock.is_some() { Background::begin(&inner)? } else { None };
        Ok(Self { background, inner, recovery, follower: RankedMutex::new(Rank::Follower, follower), lock })
    }

    /// Makes all that was written durable, and ends the background threads.
    ///
    /// # Errors
    /// `Poisoned`; `Io` from syncing.
    pub(crate) fn close(mut self) -> Result<()> {
        let synced = if self.lock.is_some() { self.inner.promise_all(Durability::SyncAll) } else { Ok(()) };
        drop(self.background.take());
        synced.and_then(|()| self.inner.check_poison())
    }

    /// Reads what another process has written since; whether there was anything.
    pub(crate) fn refresh(&self) -> Result<bool> {
        match &mut *self.follower.lock() {
            Some(follower) => follower.refresh(&self.inner),
            None => Ok(false),
        }
    }
}
