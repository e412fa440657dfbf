//! What the handles and the threads of one open store share.

use crate::db::filters::FilterMaker;
use crate::db::handed::Handed;
use crate::db::health::{Failing, Health};
use crate::db::lock::lock;
use crate::db::pressure_state::Pressure;
use crate::db::run_builder::Maker;
use crate::db::version_set::VersionSet;
use crate::db::writer::Writer;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Rank, RankedGuard, RankedMutex, RateLimiter};
use crate::options::{Filters, Maintenance};
use crate::query::ViewSearcher;
use crate::version::{LatestVersion, ReadView, Run, StoreContext, SuperVersion};
use parking_lot::Condvar;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// The state of an open store.
///
/// A thread that takes several of its locks takes them in the order of their ranks ([`Rank`]).
#[derive(Debug)]
pub(crate) struct StoreInner {
    pub(crate) context: Arc<StoreContext>,
    pub(crate) latest: LatestVersion,
    /// What is written with; none in a store that is open for reading only.
    pub(crate) writer: Option<RankedMutex<Writer>>,
    /// Small batches of threads that have waited for it.
    pub(crate) handed: Handed,
    /// Held, where there are no ids, while records are removed.
    pub(crate) counting: RankedMutex<()>,
    /// Held while memtables are moved to segments.
    pub(crate) flushing: RankedMutex<()>,
    /// Held while segments are merged.
    pub(crate) compacting: RankedMutex<()>,
    /// Held while a manifest is written.
    pub(crate) installing: RankedMutex<()>,
    /// Held for moments only: writers and readers wait for it.
    versions: RankedMutex<VersionSet>,
    /// Tells threads that wait for it that the tree has changed.
    pub(crate) changed: Condvar,
    /// The number of the next segment.
    pub(crate) next_segment: AtomicU64,
    /// Why nothing may be written any more.
    poison: OnceLock<String>,
    filters: FilterMaker,
    /// That of merging in the background.
    pub(crate) limiter: RateLimiter,
    pub(crate) pressure: Pressure,
    /// Runs that others have replaced, to be let go of by the thread that merges: unmapping and removing large files takes
    /// time.
    obsolete_runs: RankedMutex<Vec<Arc<Run>>>,
    /// Held while that is done.
    collecting: RankedMutex<()>,
    /// Buffers for callers without a searcher of their own.
    idle: Mutex<Vec<ViewSearcher>>,
}

impl StoreInner {
    pub(crate) fn new(context: Arc<StoreContext>, versions: VersionSet, writer: Option<Writer>) -> Self {
        let view = versions.view();
        let filters = FilterMaker::default();
        filters.want(&view.segments, &context, context.options.filters);
        Self {
            context,
            latest: LatestVersion::new(view),
            writer: writer.map(|writer| RankedMutex::new(Rank::Writer, writer)),
            handed: Handed::default(),
            counting: RankedMutex::new(Rank::Counting, ()),
            flushing: RankedMutex::new(Rank::Flushing, ()),
            compacting: RankedMutex::new(Rank::Compacting, ()),
            installing: RankedMutex::new(Rank::Installing, ()),
            next_segment: AtomicU64::new(versions.manifest.next_segment),
            versions: RankedMutex::new(Rank::Versions, versions),
            changed: Condvar::new(),
            poison: OnceLock::new(),
            filters,
            limiter: RateLimiter::default(),
            pressure: Pressure::default(),
            obsolete_runs: RankedMutex::new(Rank::Obsolete, Vec::new()),
            collecting: RankedMutex::new(Rank::Collecting, ()),
            idle: Mutex::default(),
        }
    }

    /// The tree, for a short while.
    pub(crate) fn versions(&self) -> RankedGuard<'_, VersionSet> {
        self.versions.lock()
    }

    /// Lets readers see what the tree is now. Returns what they saw before, to be dropped when no lock is held.
    pub(crate) fn publish(&self, versions: &VersionSet) -> Arc<SuperVersion> {
        let before = self.latest.publish(versions.view());
        self.set_pressure(versions);
        self.changed.notify_all();
        before
    }

    /// Begins with filters as these options want them, and leaves those of segments that are not there any more.
    pub(crate) fn make_filters(&self, when: Filters) {
        self.filters.want(&self.latest.view().segments, &self.context, when);
    }

    /// Begins with filters for segments that have come since a view, and leaves those of segments that have gone. Nothing waits
    /// for them.
    pub(crate) fn make_later_filters(&self, seen: &SuperVersion) {
        let now = self.view();
        let same = |(a, b)| Arc::ptr_eq(a, b);
        if seen.segments.len() != now.segments.len() || !seen.segments.iter().zip(&now.segments).all(same) {
            let when = self.context.options.filters;
            self.make_filters(if when == Filters::AtOpen { Filters::Background } else { when });
        }
    }

    /// Returns when the filters that are being made are there.
    pub(crate) fn wait_for_filters(&self) {
        self.filters.wait();
    }

    /// The view of now.
    pub(crate) fn view(&self) -> Arc<SuperVersion> {
        self.latest.view()
    }

    /// The state of now.
    pub(crate) fn state(&self) -> ReadView {
        self.latest.state()
    }

    /// Has `ask` ask the state of now, with buffers that were used before where there are some.
    pub(crate) fn ask<R>(&self, ask: impl FnOnce(&mut ViewSearcher) -> R) -> R {
        let idle = lock(&self.idle).pop();
        let mut searcher = idle.unwrap_or_else(|| ViewSearcher::new(&self.context, self.state()));
        searcher.catch_up(&self.latest);
        let answer = ask(&mut searcher);
        let mut idle = lock(&self.idle);
        // What is not asked any more must not be kept open: a later state is published before these are forgotten.
        if searcher.is_of(&self.latest) {
            idle.push(searcher);
        }
        answer
    }

    /// Lets go of states that are not the latest, which buffers for later still have.
    pub(crate) fn forget(&self) {
        let idle = std::mem::take(&mut *lock(&self.idle));
        drop(idle);
    }

    /// Lets go of runs that others have replaced: here, or, where there is a thread that merges, there.
    pub(crate) fn mark_obsolete(&self, runs: Vec<Arc<Run>>) {
        if self.context.options.maintenance == Maintenance::Background {
            self.obsolete_runs.lock().extend(runs);
        }
    }

    /// Lets go of replaced runs that nothing else reads any more; whether some are left.
    pub(crate) fn collect_obsolete(&self) -> bool {
        let _reaping = self.collecting.lock();
        let mut obsolete_runs = self.obsolete_runs.lock();
        let (free, held) = std::mem::take(&mut *obsolete_runs).into_iter().partition(|run| Arc::strong_count(run) == 1);
        *obsolete_runs = held;
        let is_left = !obsolete_runs.is_empty();
        drop(obsolete_runs);
        drop::<Vec<_>>(free);
        is_left
    }

    /// Lets go of all replaced runs, whatever still reads them.
    pub(crate) fn let_go(&self) {
        let obsolete_runs = std::mem::take(&mut *self.obsolete_runs.lock());
        drop(obsolete_runs);
    }

    /// Has nothing be written any more, because of an error after which nobody knows what the files hold.
    pub(crate) fn poison(&self, error: &Error) {
        // A thread that waits for the tree to change either sees the poison before it waits, or is woken.
        let _tree = self.versions();
        let _ = self.poison.set(error.to_string());
        self.changed.notify_all();
    }

    /// Poisons the store if an error says that its directory is another one now.
    pub(crate) fn check_place(&self, error: &Error) {
        if error.is_displaced() {
            self.poison(error);
        }
    }

    /// Why nothing may be written any more, if that is so.
    pub(crate) fn poisoned(&self) -> Option<&str> {
        self.poison.get().map(String::as_str)
    }

    /// As long as nothing has gone wrong.
    pub(crate) fn check_poison(&self) -> Result<()> {
        match self.poison.get() {
            None => Ok(()),
            Some(cause) => Err(Error::new(ErrorKind::Poisoned, format!("an earlier write failed ({cause})"))
                .at_path(&self.context.path)
                .with_remedy("close the store and open it again; what was acknowledged is there")),
        }
    }

    /// Waits for other writes, in a store that is open for writing and in which nothing has gone wrong.
    pub(crate) fn writer(&self) -> Result<Writing<'_>> {
        let writing = Writing(self.writer_lock()?.lock());
        self.check_poison()?;
        Ok(writing)
    }

    /// Waits for other writes, but no longer than this. What has gone wrong is for the caller to ask.
    pub(crate) fn writer_within(&self, most: Duration) -> Result<Option<Writing<'_>>> {
        Ok(self.writer_lock()?.try_lock_for(most).map(Writing))
    }

    fn writer_lock(&self) -> Result<&RankedMutex<Writer>> {
        self.writer.as_ref().ok_or_else(|| {
            Error::new(ErrorKind::ReadOnly, "the store is open for reading only")
                .at_path(&self.context.path)
                .with_remedy("open it with Store::open")
        })
    }

    /// Stops all that goes on in the background.
    pub(crate) fn stop(&self) {
        self.limiter.stop();
        let mut versions = self.versions();
        versions.closing = true;
        drop(versions);
        self.changed.notify_all();
    }
}

/// The right to write.
pub(crate) struct Writing<'a>(RankedGuard<'a, Writer>);

impl Writing<'_> {
    /// What is written with.
    pub(crate) fn get(&mut self) -> &mut Writer {
        &mut self.0
    }
}

impl StoreInner {
    /// What the store cannot do at present, and why.
    pub(crate) fn health(&self) -> Health {
        let versions = self.versions();
        let trouble = |failing: &Option<Failing>| failing.as_ref().map(|failing| failing.trouble.clone());
        Health {
            poisoned: self.poisoned().map(str::to_owned),
            flushing: trouble(&versions.flushing),
            merging: trouble(&versions.merging),
        }
    }
}

impl StoreInner {
    /// Who makes segments for this store.
    pub(crate) fn maker(&self) -> Maker<'_> {
        let StoreContext { path, options, parameters, obsolete_files, .. } = &*self.context;
        Maker { path, options, parameters, next: &self.next_segment, obsolete_files }
    }
}
