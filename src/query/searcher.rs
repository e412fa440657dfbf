//! Asking a store.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Match};
use crate::memtable::MemtablePlan;
use crate::query::probe::plan::SegmentPlan;
use crate::query::view_searcher::{ViewSearcher, check_distance, only};
use crate::query::visit_options::Visit;
use crate::query_stats::QueryStats;
use crate::version::{LatestVersion, ReadView, StoreContext};
use std::marker::PhantomData;
use std::sync::Arc;

/// Asks a store many times, reusing its buffers. One a thread.
///
/// That of a [`crate::Store`] asks for the latest state each time, that of a [`crate::Snapshot`] for its own. Between two
/// questions it keeps the state of the last one: segments that were merged since stay on disk, and memtables that were flushed
/// in memory, until it is asked again or dropped. So a thread that has nothing to ask for long drops its searcher.
#[derive(Debug)]
pub struct Searcher<'a, F: Fingerprint = u64> {
    /// Where later states come from.
    latest: Option<&'a LatestVersion>,
    inner: ViewSearcher,
    width: PhantomData<F>,
}

impl<'a, F: Fingerprint> Searcher<'a, F> {
    /// Asks for the latest state each time.
    pub(crate) fn following(context: &Arc<StoreContext>, latest: &'a LatestVersion) -> Self {
        Self { latest: Some(latest), inner: ViewSearcher::new(context, latest.state()), width: PhantomData }
    }

    /// Asks this state alone.
    pub(crate) fn of_state(context: &Arc<StoreContext>, state: ReadView) -> Self {
        Self { latest: None, inner: ViewSearcher::new(context, state), width: PhantomData }
    }

    /// The same, and returns records, too, that were removed from it.
    pub(crate) fn with_removed(context: &Arc<StoreContext>, state: ReadView) -> Self {
        let mut searcher = Self::of_state(context, state);
        searcher.inner.with_removed = true;
        searcher
    }

    /// What all queries so far have cost.
    #[must_use]
    pub fn stats(&self) -> QueryStats {
        self.inner.work
    }

    /// Who asks, at the state of now.
    pub(crate) fn now(&mut self) -> &mut ViewSearcher {
        if let Some(latest) = self.latest {
            self.inner.catch_up(latest);
        }
        &mut self.inner
    }

    /// As [`crate::Store::query`].
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width; `Damaged` or `Io` from reading.
    pub fn query(&mut self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.now().query(fingerprint, k)
    }

    /// As [`crate::Store::contains_near`].
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn contains_near(&mut self, fingerprint: F, k: u32) -> Result<Option<Match<F>>> {
        self.now().contains_near(fingerprint, k)
    }

    /// As [`crate::Store::nearest`].
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub fn nearest(&mut self, fingerprint: F, count: usize) -> Result<Vec<Match<F>>> {
        self.now().first_of(fingerprint, count, &Visit::within(F::WIDTH))
    }

    /// The first `count` of what [`Searcher::query`] would return. Beyond the distance that the store is made for, memory is
    /// taken for so many fingerprints, not for all within `k`.
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn nearest_within(&mut self, fingerprint: F, count: usize, k: u32) -> Result<Vec<Match<F>>> {
        check_distance(k, F::WIDTH)?;
        self.now().first_of(fingerprint, count, &Visit::within(k))
    }

    /// What [`Searcher::nearest_within`] returns, found by comparing with every stored fingerprint.
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn scan_nearest(&mut self, fingerprint: F, count: usize, k: u32) -> Result<Vec<Match<F>>> {
        check_distance(k, F::WIDTH)?;
        self.now().first_of(fingerprint, count, &Visit::within(k).with_scan(true))
    }

    /// What [`Searcher::query`] returns, found by comparing with every stored fingerprint: the way to check the index.
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn scan(&mut self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        check_distance(k, F::WIDTH)?;
        self.now().all(&[fingerprint], k, std::iter::repeat(&SegmentPlan::Scan), &MemtablePlan::scan()).map(only)
    }
}
