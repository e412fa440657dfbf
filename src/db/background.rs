//! The threads that move memtables to segments and merge segments while everybody else goes on.
//!
//! Each computes with one thread and rests in between, so that queries have the rest. They end when the store is closed, at
//! once, and when they next have something to do after it was poisoned; what they leave undone the next process does.

use crate::db::health::Failing;
use crate::db::next::Next;
use crate::db::store_inner::StoreInner;
use crate::db::version_set::VersionSet;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{BackgroundThread, RankedGuard};
use crate::options::Maintenance;
use std::sync::Arc;
use std::time::Duration;

/// How long a replaced run is kept at most after its last reader has let go of it.
const COLLECTING: Duration = Duration::from_millis(100);

/// The threads of a store that is open for writing. They end when it is dropped.
#[derive(Debug)]
pub(crate) struct Background {
    inner: Arc<StoreInner>,
    threads: Vec<BackgroundThread>,
}

impl Background {
    /// Begins, if the options want it.
    ///
    /// # Errors
    /// `Io` if the system has no threads for it.
    pub(crate) fn begin(inner: &Arc<StoreInner>) -> Result<Option<Self>> {
        if inner.context.options.maintenance != Maintenance::Background {
            return Ok(None);
        }
        let mut background = Self { inner: Arc::clone(inner), threads: Vec::new() };
        background.start("fpstore flush", flush_when_due)?;
        background.start("fpstore merge", merge_when_due)?;
        Ok(Some(background))
    }

    fn start(&mut self, name: &'static str, work: fn(&StoreInner) -> Result<()>) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        let thread = BackgroundThread::start(name, move || {
            let _guard = PoisonsInPanic(&inner);
            // The work ends with an error only if the store is poisoned already.
            work(&inner).unwrap_or_else(|error| inner.poison(&error));
        });
        self.threads.push(thread?);
        Ok(())
    }
}

/// Whoever waits for a thread that has panicked would wait for ever; the poison tells them.
struct PoisonsInPanic<'a>(&'a StoreInner);

impl Drop for PoisonsInPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poison(&Error::new(ErrorKind::Poisoned, "a thread in the background has panicked"));
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.inner.stop();
        // Waits for their ends. What they leave undone is done when the store is opened again.
        self.threads.clear();
    }
}

/// Moves every memtable that is sealed to segments, until the store is closed or poisoned.
fn flush_when_due(inner: &StoreInner) -> Result<()> {
    loop {
        let mut versions = inner.versions();
        loop {
            // What is not flushed is in the logs.
            if versions.closing {
                return Ok(());
            }
            if matches!(versions.next, Next::Wanted(_))
                && let Next::Wanted(written) = std::mem::replace(&mut versions.next, Next::Tried)
            {
                drop(versions);
                inner.prepare_next(written.as_ref())?;
                versions = inner.versions();
                continue;
            }
            let pause = versions.flushing.as_ref().and_then(Failing::pause);
            if pause.is_none() && !versions.sealed.is_empty() && !inner.must_merge_first(&versions) {
                break;
            }
            versions = inner.wait(versions, pause);
        }
        drop(versions);
        // What fails otherwise is noted, and tried again.
        if inner.flush_oldest().is_err() {
            inner.check_poison()?;
        }
    }
}

/// Merges what is due, until the store is closed or poisoned.
fn merge_when_due(inner: &StoreInner) -> Result<()> {
    loop {
        let is_left = inner.collect_obsolete();
        let mut versions = inner.versions();
        if versions.closing {
            return Ok(());
        }
        let pause = versions.merging.as_ref().and_then(Failing::pause);
        if inner.due_now(&versions).is_none() {
            // Other merging has done away with what failed.
            versions.merging = versions.merging.take().filter(|_| pause.is_some());
            // Nothing tells when the last reader of a run lets go of it.
            let collecting = is_left.then_some(COLLECTING);
            drop(inner.wait(versions, pause.into_iter().chain(collecting).min()));
            continue;
        }
        inner.limiter.unthrottle(inner.must_merge_first(&versions));
        drop(versions);
        // What fails otherwise is noted, and tried again.
        match inner.compact_due(Some(&inner.limiter)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Stopped => return Ok(()),
            Err(_) => inner.check_poison()?,
        }
    }
}

impl StoreInner {
    /// Waits until the tree changes, or for so long.
    fn wait<'a>(
        &self,
        mut versions: RankedGuard<'a, VersionSet>,
        most: Option<Duration>,
    ) -> RankedGuard<'a, VersionSet> {
        versions.wait(&self.changed, most);
        versions
    }

    /// Returns when nothing is left to be done in the background; at once where nothing is ever done there.
    pub(crate) fn wait_until_idle(&self, background: Option<&Background>) -> Result<()> {
        if background.is_none() {
            return self.check_poison();
        }
        let mut versions = self.versions();
        let is_done = |versions: &VersionSet| {
            versions.closing
                || (versions.sealed.is_empty() || versions.flushing.is_some()) && self.due_now(versions).is_none()
        };
        while !is_done(&versions) {
            self.check_poison()?;
            versions.wait(&self.changed, None);
        }
        let works = versions.merging.is_none();
        drop(versions);
        // What has just ended may still have hold of runs.
        drop(self.flushing.lock());
        if works {
            drop(self.compacting.lock());
        }
        self.collect_obsolete();
        self.check_poison()
    }
}
