//! The threads that move memtables to segments and merge segments while everybody else goes on.
//!
//! Each computes with one thread and rests in between, so that queries have the rest. They end when the store is closed, at
//! once, and when they next have something to do after it was poisoned; what they leave undone the next process does.

use super::apart::pool;
use super::compact::due;
use super::core::{Core, lock};
use crate::compaction::FEWEST;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::options::Maintenance;
use std::sync::{Arc, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// When merging is so many runs behind it does not rest any more.
const MOST_BEHIND: usize = 4 * FEWEST;

/// After so long it is tried again whether there is room to merge.
const RETRY: Duration = Duration::from_secs(10);

/// The threads of a store that is open for writing. They end when it is dropped.
#[derive(Debug)]
pub(super) struct Background<F: Fingerprint> {
    core: Arc<Core<F>>,
    threads: Vec<JoinHandle<()>>,
}

impl<F: Fingerprint> Background<F> {
    /// Begins, if the options want it.
    pub(super) fn begin(core: &Arc<Core<F>>) -> Option<Self> {
        if core.common.options.maintenance != Maintenance::Background {
            return None;
        }
        let mut background = Self { core: Arc::clone(core), threads: Vec::new() };
        background.start("fpstore flush", flush_when_due);
        background.start("fpstore merge", merge_when_due);
        Some(background)
    }

    fn start(&mut self, name: &str, work: fn(&Core<F>) -> Result<()>) {
        let core = Arc::clone(&self.core);
        let thread = Builder::new().name(name.to_owned()).spawn(move || {
            let _guard = PoisonsInPanic(&core);
            // What is encoded in the background is encoded by this thread alone: the others are for queries.
            let worked = pool(1).and_then(|pool| pool.install(|| work(&core)));
            if let Err(error) = worked
                && error.kind() != ErrorKind::Stopped
            {
                core.poison(&error);
            }
        });
        match thread {
            Ok(thread) => self.threads.push(thread),
            Err(error) => self.core.poison(&Error::no_thread(error)),
        }
    }
}

/// Whoever waits for a thread that has panicked would wait for ever; the poison tells them.
struct PoisonsInPanic<'a, F: Fingerprint>(&'a Core<F>);

impl<F: Fingerprint> Drop for PoisonsInPanic<'_, F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poison(&Error::new(ErrorKind::Poisoned, "a thread in the background has panicked"));
        }
    }
}

impl<F: Fingerprint> Drop for Background<F> {
    fn drop(&mut self) {
        self.core.stop();
        for thread in self.threads.drain(..) {
            // It does not panic; and if it did, what it was to do is done when the store is opened again.
            let _ = thread.join();
        }
    }
}

/// Moves every memtable that is sealed to segments, until the store is closed.
fn flush_when_due<F: Fingerprint>(core: &Core<F>) -> Result<()> {
    loop {
        let mut tree = core.tree();
        while tree.sealed.is_empty() && !tree.closing {
            tree = core.changed.wait(tree).unwrap_or_else(PoisonError::into_inner);
        }
        // What is not flushed is in the logs.
        if tree.closing {
            return Ok(());
        }
        drop(tree);
        core.flush_sealed()?;
    }
}

/// Merges what is due, until the store is closed.
fn merge_when_due<F: Fingerprint>(core: &Core<F>) -> Result<()> {
    let mut unfinished = core.has_unfinished_merge();
    loop {
        let mut tree = core.tree();
        while due(&tree.runs).is_none() && !unfinished && !tree.closing {
            tree = core.changed.wait(tree).unwrap_or_else(PoisonError::into_inner);
        }
        if tree.closing {
            return Ok(());
        }
        core.pace.hurry(tree.runs.len() > MOST_BEHIND);
        drop(tree);
        match core.compact_due(Some(&core.pace)) {
            // Nothing that was acknowledged is concerned, and there may be room again later.
            Err(error) if error.is_out_of_room() => {
                let mut tree = core.tree();
                tree.waits_for_room = true;
                core.changed.notify_all();
                let waited = core.changed.wait_timeout_while(tree, RETRY, |tree| !tree.closing);
                waited.unwrap_or_else(PoisonError::into_inner).0.waits_for_room = false;
            }
            done => {
                done?;
                unfinished = false;
            }
        }
    }
}

impl<F: Fingerprint> Core<F> {
    /// Returns when nothing is left to be done in the background; at once where nothing is ever done there.
    pub(super) fn wait_until_idle(&self, background: Option<&Background<F>>) -> Result<()> {
        if background.is_none() {
            return self.check_poison();
        }
        let mut tree = self.tree();
        while !(tree.closing || tree.sealed.is_empty() && (tree.waits_for_room || due(&tree.runs).is_none())) {
            self.check_poison()?;
            tree = self.changed.wait(tree).unwrap_or_else(PoisonError::into_inner);
        }
        let works = !tree.waits_for_room;
        drop(tree);
        if works {
            drop(lock(&self.compacting));
        }
        self.check_poison()
    }
}
