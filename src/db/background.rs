//! The background threads of a store: one flushes, one compacts.
//!
//! They end when the store is closed, or at their next step after it was poisoned. The next process does the rest of
//! their work.

use crate::db::health::Failing;
use crate::db::store_inner::StoreInner;
use crate::db::version_set::{NextMemtable, VersionSet};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::BackgroundThread;
use crate::options::Maintenance;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Interval at which obsolete runs that are still read are looked at again.
const COLLECTING: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Background {
    inner: Arc<StoreInner>,
    threads: Vec<BackgroundThread>,
}

impl Background {
    pub(crate) fn begin(inner: &Arc<StoreInner>) -> Result<Option<Self>> {
        if inner.context.options.maintenance != Maintenance::Background {
            return Ok(None);
        }
        let mut background = Self { inner: Arc::clone(inner), threads: Vec::new() };
        background.start("fpstore flush", flush_when_due)?;
        background.start("fpstore compact", compact_when_due)?;
        Ok(Some(background))
    }

    fn start(&mut self, name: &'static str, work: fn(&StoreInner) -> Result<()>) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        self.threads.push(BackgroundThread::start(name, move || {
            // The poison wakes the threads that wait for this one.
            let panicked = |_| Err(Error::new(ErrorKind::Poisoned, "a thread in the background has panicked"));
            let done = catch_unwind(AssertUnwindSafe(|| work(&inner))).unwrap_or_else(panicked);
            done.unwrap_or_else(|error| inner.poison(&error));
        })?);
        Ok(())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.inner.stop();
        self.threads.clear();
    }
}

/// Flushes every sealed memtable. A returned error poisons the store; others are noted.
fn flush_when_due(inner: &StoreInner) -> Result<()> {
    loop {
        let mut versions = inner.versions();
        loop {
            if versions.closing {
                return Ok(());
            }
            if matches!(versions.next, NextMemtable::Wanted(_))
                && let NextMemtable::Wanted(written) = std::mem::replace(&mut versions.next, NextMemtable::Tried)
            {
                drop(versions);
                inner.prepare_next(written.as_ref())?;
                versions = inner.versions();
                continue;
            }
            let pause = versions.flushing.as_ref().and_then(Failing::pause);
            if pause.is_none() && !versions.sealed.is_empty() && !inner.must_compact_first(&versions) {
                break;
            }
            versions = versions.wait(&inner.changed, pause);
        }
        drop(versions);
        // Other errors are noted, and the flush is tried again.
        if inner.flush_sealed(1).is_err() {
            inner.check_poison()?;
        }
    }
}

/// Compacts all that is due. A returned error poisons the store; others are noted.
fn compact_when_due(inner: &StoreInner) -> Result<()> {
    loop {
        inner.collect_obsolete(false);
        let mut versions = inner.versions();
        if versions.closing {
            return Ok(());
        }
        let pause = versions.compacting.as_ref().and_then(Failing::pause);
        if inner.due_now(&versions).is_none() {
            // Another compaction has removed the runs whose compaction failed.
            versions.compacting = versions.compacting.take().filter(|_| pause.is_some());
            // The last reader of a run does not notify.
            let collecting = (!versions.obsolete.is_empty()).then_some(COLLECTING);
            drop(versions.wait(&inner.changed, pause.into_iter().chain(collecting).min()));
            continue;
        }
        inner.limiter.unthrottle(inner.must_compact_first(&versions));
        drop(versions);
        match inner.compact_due(Some(&inner.limiter)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Stopped => return Ok(()),
            // Other errors are noted, and the compaction is tried again.
            Err(_) => inner.check_poison()?,
        }
    }
}

impl StoreInner {
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
            versions = versions.wait(&self.changed, None);
        }
        let works = versions.compacting.is_none();
        drop(versions);
        // A flush or compaction that has just ended may still hold runs.
        drop(self.flushing.lock());
        if works {
            drop(self.compacting.lock());
        }
        self.collect_obsolete(false);
        self.check_poison()
    }
}
