//! The state that all handles and threads of an open store share.

use crate::db::filters::FilterMaker;
use crate::db::health::{Failing, Health};
use crate::db::run_builder::Maker;
use crate::db::version_set::VersionSet;
use crate::db::write_pressure::Pressure;
use crate::db::writer::{Handed, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Condvar, Mutex, Rank, RankedGuard, RankedMutex, RateLimiter};
use crate::options::Filters;
use crate::query::ViewSearcher;
use crate::segment::save_filters;
use crate::version::{LatestVersion, ReadView, Run, StoreContext, SuperVersion};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

pub(crate) type Writing<'a> = RankedGuard<'a, Writer>;

/// The state of an open store. Its locks have an order ([`Rank`]).
#[derive(Debug)]
pub(crate) struct StoreInner {
    pub(crate) context: Arc<StoreContext>,
    pub(crate) latest: LatestVersion,
    /// `None` in a store that is open for reading only.
    pub(crate) writer: Option<RankedMutex<Writer>>,
    pub(crate) handed: Handed,
    pub(crate) counting: RankedMutex<()>,
    pub(crate) flushing: RankedMutex<()>,
    pub(crate) compacting: RankedMutex<()>,
    pub(crate) installing: RankedMutex<()>,
    /// Held for moments only, because all threads wait for it.
    versions: RankedMutex<VersionSet>,
    /// Notified when `versions` or `poison` changes.
    pub(crate) changed: Condvar,
    pub(crate) next_segment: AtomicU64,
    /// The error after which the store takes no writes.
    poison: OnceLock<String>,
    filters: FilterMaker,
    saving: Mutex<()>,
    pub(crate) limiter: RateLimiter,
    pub(crate) pressure: Pressure,
    collecting: RankedMutex<()>,
    /// Searchers for callers without one of their own.
    idle: Mutex<Vec<ViewSearcher>>,
}

impl StoreInner {
    pub(crate) fn new(context: Arc<StoreContext>, versions: VersionSet, writer: Option<Writer>) -> Arc<Self> {
        let latest = LatestVersion::new(versions.super_version());
        let filters = FilterMaker::default();
        if context.options.filters == Filters::AtOpen {
            filters.want(&latest, &context, Filters::AtOpen);
        }
        let inner = Arc::new(Self {
            context,
            latest,
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
            saving: Mutex::new(()),
            limiter: RateLimiter::default(),
            pressure: Pressure::default(),
            collecting: RankedMutex::new(Rank::Collecting, ()),
            idle: Mutex::default(),
        });
        let weak = Arc::downgrade(&inner);
        inner.context.first_queries.then(move || weak.upgrade().into_iter().for_each(|inner| inner.begin_filters()));
        inner
    }

    /// Runs an operation that takes locks, on a crew of its own.
    pub(crate) fn exclusive<R: Send>(&self, work: impl FnOnce(&Self) -> Result<R> + Send) -> Result<R> {
        self.context.options.executor.run_exclusive(|| work(self))
    }

    pub(crate) fn versions(&self) -> RankedGuard<'_, VersionSet> {
        self.versions.lock()
    }

    /// Publishes the version set to readers and releases it. Returns the previous super version, whose drop may take
    /// time.
    pub(crate) fn publish(&self, versions: RankedGuard<'_, VersionSet>) -> Arc<SuperVersion> {
        let before = self.latest.publish(versions.super_version());
        self.set_pressure(&versions);
        self.changed.notify_all();
        before
    }

    pub(crate) fn make_filters(&self, when: Filters) {
        self.filters.want(&self.latest, &self.context, when);
    }

    /// Makes the background's filters, unless these, or none, were wanted before.
    fn begin_filters(&self) {
        if self.context.options.filters == Filters::Background && !self.filters.were_wanted() {
            self.make_filters(Filters::Background);
        }
    }

    /// Starts to make filters in the background if it is time for them and the segments have changed since `seen`.
    pub(crate) fn make_later_filters(&self, seen: &SuperVersion) {
        let now = self.super_version();
        let same = |(a, b)| Arc::ptr_eq(a, b);
        let have_changed =
            seen.segments.len() != now.segments.len() || !seen.segments.iter().zip(&now.segments).all(same);
        match self.context.options.filters {
            _ if !have_changed => {}
            Filters::Background if !self.filters.were_wanted() => {}
            Filters::AtOpen => self.make_filters(Filters::Background),
            when => self.make_filters(when),
        }
    }

    /// Makes the missing filters within the budget and saves all of them beside their segments. Returns the bytes
    /// written. A file stays unwritten that has them already.
    pub(crate) fn save_filters(&self) -> Result<u64> {
        drop(self.writer()?);
        // Two calls would write to the same temporary file.
        let _saving = self.saving.lock();
        let version = self.super_version();
        self.filters.want(&self.latest, &self.context, Filters::AtOpen);
        self.filters.make_missing(&version.segments, &self.context)?;
        let saved = version.segments.iter().map(|segment| save_filters(self.context.env(), segment));
        saved.sum::<Result<u64>>().inspect_err(|error| self.check_place(error))
    }

    pub(crate) fn wait_for_filters(&self) {
        self.begin_filters();
        self.filters.wait();
    }

    pub(crate) fn super_version(&self) -> Arc<SuperVersion> {
        self.latest.super_version()
    }

    pub(crate) fn read_view(&self) -> ReadView {
        self.latest.read_view()
    }

    pub(crate) fn ask<R>(&self, ask: impl FnOnce(&mut ViewSearcher) -> R) -> R {
        let idle = self.idle.lock().pop();
        let mut searcher = idle.unwrap_or_else(|| ViewSearcher::new(&self.context, self.read_view()));
        searcher.catch_up(&self.latest);
        let answer = ask(&mut searcher);
        let mut idle = self.idle.lock();
        // An idle searcher must not keep an old super version: `forget` comes after `publish`.
        if searcher.version == self.latest.number() {
            idle.push(searcher);
        }
        answer
    }

    /// Drops the idle searchers, whose super versions may be old.
    pub(crate) fn forget(&self) {
        let idle = std::mem::take(&mut *self.idle.lock());
        drop(idle);
    }

    /// Drops the obsolete runs without readers, or all.
    pub(crate) fn collect_obsolete(&self, all: bool) {
        let _collecting = self.collecting.lock();
        let mut versions = self.versions();
        let is_free = |run: &mut Arc<Run>| all || Arc::strong_count(run) == 1;
        let free: Vec<_> = versions.obsolete.extract_if(.., is_free).collect();
        drop(versions);
        drop(free);
    }

    /// Poisons the store after an error that leaves the on-disk state unknown.
    pub(crate) fn poison(&self, error: &Error) {
        // Under this lock, a thread either sees the poison before it waits for `changed`, or is woken.
        let _versions = self.versions();
        let _ = self.poison.set(error.to_string());
        self.changed.notify_all();
    }

    /// Poisons the store if the error says that its directory was replaced.
    pub(crate) fn check_place(&self, error: &Error) {
        if error.is_displaced() {
            self.poison(error);
        }
    }

    pub(crate) fn poisoned(&self) -> Option<&str> {
        self.poison.get().map(String::as_str)
    }

    pub(crate) fn check_poison(&self) -> Result<()> {
        match self.poison.get() {
            None => Ok(()),
            Some(cause) => Err(Error::new(ErrorKind::Poisoned, format!("an earlier write failed ({cause})"))
                .at_path(&self.context.path)
                .with_remedy("close the store and open it again; acknowledged writes are kept")),
        }
    }

    /// Waits for the writer lock. Fails with `ReadOnly` or `Poisoned`.
    pub(crate) fn writer(&self) -> Result<Writing<'_>> {
        let writing = self.writer_lock()?.lock();
        self.check_poison()?;
        Ok(writing)
    }

    pub(crate) fn writer_lock(&self) -> Result<&RankedMutex<Writer>> {
        self.writer.as_ref().ok_or_else(|| {
            Error::new(ErrorKind::ReadOnly, "the store is open for reading only")
                .at_path(&self.context.path)
                .with_remedy("open it for writing")
        })
    }

    pub(crate) fn stop(&self) {
        self.limiter.stop();
        let mut versions = self.versions();
        versions.closing = true;
        drop(versions);
        self.changed.notify_all();
    }

    pub(crate) fn health(&self) -> Health {
        let versions = self.versions();
        let trouble = |failing: &Option<Failing>| failing.as_ref().map(|failing| failing.trouble.clone());
        Health {
            poisoned: self.poisoned().map(str::to_owned),
            flushing: trouble(&versions.flushing),
            compacting: trouble(&versions.compacting),
        }
    }

    pub(crate) fn maker(&self) -> Maker<'_> {
        let StoreContext { path, options, parameters, obsolete_files, .. } = &*self.context;
        Maker { path, options, parameters, next: Some(&self.next_segment), obsolete_files: Some(obsolete_files) }
    }
}
