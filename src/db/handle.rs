//! An open store: engine, background threads, and the lock on the directory.

use super::background::Background;
use super::directory::remove_leftovers;
use super::follower::Follower;
use super::recovery::{Recovered, Recovery};
use super::store_inner::StoreInner;
use super::version_set::VersionSet;
use crate::error::{Error, Result};
use crate::executor::{Rank, RankedMutex};
use crate::format::parameters::StoreKind;
use crate::options::Options;
use crate::version::{Lock, StoreContext, absolute, check_kind, hold, manifest, open_runs};
use crate::wal::Durability;
use std::path::Path;
use std::sync::Arc;

/// With this many logs of earlier processes, opening a store for writing flushes them.
const MOST_LOGS: usize = 8;

#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) background: Option<Background>,
    pub(crate) inner: Arc<StoreInner>,
    pub(crate) recovery: Recovery,
    /// `None` in a store that is open for writing.
    pub(crate) follower: RankedMutex<Option<Follower>>,
    /// Held while the store is open for writing.
    lock: Option<Lock>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.inner.stop();
        drop(self.background.take());
        self.inner.collect_obsolete(true);
        self.inner.forget();
        self.inner.context.obsolete_files.close();
        drop(self.lock.take());
    }
}

impl Handle {
    pub(crate) fn open(path: &Path, options: &Options, kind: StoreKind) -> Result<Self> {
        let path = &*absolute(path, options)?;
        // Only a directory that is a store gets a lock file.
        manifest::read_bytes(&*options.env, path)?;
        let (lock, options) = &hold(path, options)?;
        let env = &*options.env;
        // The last writer may have died before it made the manifest's rename durable.
        env.sync_dir(path).map_err(|error| Error::io("cannot sync", path, error))?;
        let (manifest, runs) = open_runs(path, options, &[])?;
        check_kind(&manifest.parameters, path, kind)?;
        let context = StoreContext::new(path, options, &manifest.parameters)?;
        let recovered = Recovered::read(&context, &manifest)?;
        remove_leftovers(env, path, &manifest, None)?;
        let Recovered { sealed, active, writer, found: recovery, .. } = recovered;
        let logs = writer.unsynced.len();
        let versions = VersionSet { sealed, active, ..VersionSet::new(manifest, runs) };
        let inner = StoreInner::new(context, versions, Some(writer));
        if logs >= MOST_LOGS && inner.flush().is_err() {
            // Other errors are noted, and the flush is tried again.
            inner.check_poison()?;
        }
        Self::of(inner, recovery, None, Some(Arc::clone(lock)))
    }

    pub(crate) fn open_read_only(path: &Path, options: &Options, kind: StoreKind) -> Result<Self> {
        let path = absolute(path, options)?;
        let (inner, follower, recovery) = Follower::open(&path, options, kind)?;
        Self::of(inner, recovery, Some(follower), None)
    }

    /// Starts the background threads, if `lock` is given.
    pub(crate) fn of(
        inner: Arc<StoreInner>,
        recovery: Recovery,
        follower: Option<Follower>,
        lock: Option<Lock>,
    ) -> Result<Self> {
        let background = if lock.is_some() { Background::begin(&inner)? } else { None };
        Ok(Self { background, inner, recovery, follower: RankedMutex::new(Rank::Follower, follower), lock })
    }

    pub(crate) fn close(mut self) -> Result<()> {
        let synced = if self.lock.is_some() { self.inner.make_durable(Durability::SyncAll) } else { Ok(()) };
        drop(self.background.take());
        synced.and_then(|()| self.inner.check_poison())
    }

    pub(crate) fn refresh(&self) -> Result<bool> {
        match &mut *self.follower.lock() {
            Some(follower) => follower.refresh(&self.inner),
            None => Ok(false),
        }
    }
}
