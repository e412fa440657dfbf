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
    core: Arc<StoreInner>,
    threads: Vec<BackgroundThread>,
}

impl Background {
    /// Begins, if the options want it.
    ///
    /// # Errors
    /// `Io` if the system has no threads for it.
    pub(crate) fn begin(core: &Arc<StoreInner>) -> Result<Option<Self>> {
        if core.common.options.maintenance != Maintenance::Background {
            return Ok(None);
        }
        let mut background = Self { core: Arc::clone(core), threads: Vec::new() };
        background.start("fpstore flush", flush_when_due)?;
        background.start("fpstore merge", merge_when_due)?;
        Ok(Some(background))
    }

    fn start(&mut self, name: &'static str, work: fn(&StoreInner) -> Result<()>) -> Result<()> {
        let core = Arc::clone(&self.core);
        let thread = BackgroundThread::start(name, move || {
            let _guard = PoisonsInPanic(&core);
            // The work ends with an error only if the store is poisoned already.
            work(&core).unwrap_or_else(|error| core.poison(&error));
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
        self.core.stop();
        // Waits for their ends. What they leave undone is done when the store is opened again.
        self.threads.clear();
    }
}

/// Moves every memtable that is sealed to segments, until the store is closed or poisoned.
fn flush_when_due(core: &StoreInner) -> Result<()> {
    loop {
        let mut tree = core.tree();
        loop {
            // What is not flushed is in the logs.
            if tree.closing {
                return Ok(());
            }
            if matches!(tree.next, Next::Wanted(_))
                && let Next::Wanted(written) = std::mem::replace(&mut tree.next, Next::Tried)
            {
                drop(tree);
                core.prepare_next(written.as_ref())?;
                tree = core.tree();
                continue;
            }
            let pause = tree.flushing.as_ref().and_then(Failing::pause);
            if pause.is_none() && !tree.sealed.is_empty() && !core.must_merge_first(&tree) {
                break;
            }
            tree = core.wait(tree, pause);
        }
        drop(tree);
        // What fails otherwise is noted, and tried again.
        if core.flush_oldest().is_err() {
            core.check_poison()?;
        }
    }
}

/// Merges what is due, until the store is closed or poisoned.
fn merge_when_due(core: &StoreInner) -> Result<()> {
    loop {
        let is_left = core.collect_obsolete();
        let mut tree = core.tree();
        if tree.closing {
            return Ok(());
        }
        let pause = tree.merging.as_ref().and_then(Failing::pause);
        if core.due_now(&tree).is_none() {
            // Other merging has done away with what failed.
            tree.merging = tree.merging.take().filter(|_| pause.is_some());
            // Nothing tells when the last reader of a run lets go of it.
            let collecting = is_left.then_some(COLLECTING);
            drop(core.wait(tree, pause.into_iter().chain(collecting).min()));
            continue;
        }
        core.limiter.unthrottle(core.must_merge_first(&tree));
        drop(tree);
        // What fails otherwise is noted, and tried again.
        match core.compact_due(Some(&core.limiter)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Stopped => return Ok(()),
            Err(_) => core.check_poison()?,
        }
    }
}

impl StoreInner {
    /// Waits until the tree changes, or for so long.
    fn wait<'a>(&self, mut tree: RankedGuard<'a, VersionSet>, most: Option<Duration>) -> RankedGuard<'a, VersionSet> {
        tree.wait(&self.changed, most);
        tree
    }

    /// Returns when nothing is left to be done in the background; at once where nothing is ever done there.
    pub(crate) fn wait_until_idle(&self, background: Option<&Background>) -> Result<()> {
        if background.is_none() {
            return self.check_poison();
        }
        let mut tree = self.tree();
        let is_done = |tree: &VersionSet| {
            tree.closing || (tree.sealed.is_empty() || tree.flushing.is_some()) && self.due_now(tree).is_none()
        };
        while !is_done(&tree) {
            self.check_poison()?;
            tree.wait(&self.changed, None);
        }
        let works = tree.merging.is_none();
        drop(tree);
        // What has just ended may still have hold of runs.
        drop(self.flushing.lock());
        if works {
            drop(self.compacting.lock());
        }
        self.collect_obsolete();
        self.check_poison()
    }
}
