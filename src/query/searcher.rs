//! The public interface of queries.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Match};
use crate::query::view_searcher::{ViewSearcher, check_distance};
use crate::query::visit_options::Visit;
use crate::query_stats::QueryStats;
use crate::version::{LatestVersion, ReadView, StoreContext};
use std::marker::PhantomData;
use std::sync::Arc;

/// Answers queries and reuses its buffers; one a thread.
///
/// The searcher of a [`crate::Store`] answers from the latest state, that of a [`crate::Snapshot`] from the snapshot's.
/// Between two queries it keeps the state of the last one: segments that were compacted since stay on disk, and
/// memtables that were flushed in memory, until the next query or until it is dropped. A thread without queries for a
/// long time should drop it.
#[derive(Debug)]
pub struct Searcher<'a, F: Fingerprint = u64> {
    /// The source of later states.
    latest: Option<&'a LatestVersion>,
    inner: ViewSearcher,
    width: PhantomData<F>,
}

impl<'a, F: Fingerprint> Searcher<'a, F> {
    /// Answers each query from the latest state.
    pub(crate) fn following(context: &Arc<StoreContext>, latest: &'a LatestVersion) -> Self {
        Self { latest: Some(latest), inner: ViewSearcher::new(context, latest.read_view()), width: PhantomData }
    }

    pub(crate) fn of_view(context: &Arc<StoreContext>, view: ReadView) -> Self {
        Self { latest: None, inner: ViewSearcher::new(context, view), width: PhantomData }
    }

    /// The work of all queries so far.
    #[must_use]
    pub fn stats(&self) -> QueryStats {
        self.inner.stats
    }

    /// The inner searcher, moved on to the latest state.
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
        self.now().query(fingerprint, k, false)
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

    /// The first `count` matches that [`Searcher::query`] would return. Beyond the distance that the store is made for,
    /// takes memory for this many fingerprints, not for all within `k`.
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn nearest_within(&mut self, fingerprint: F, count: usize, k: u32) -> Result<Vec<Match<F>>> {
        check_distance(k, F::WIDTH)?;
        self.now().first_of(fingerprint, count, &Visit::within(k))
    }

    /// As [`Searcher::nearest_within`], by comparing with every stored fingerprint.
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn scan_nearest(&mut self, fingerprint: F, count: usize, k: u32) -> Result<Vec<Match<F>>> {
        check_distance(k, F::WIDTH)?;
        self.now().first_of(fingerprint, count, &Visit::within(k).with_scan(true))
    }

    /// As [`Searcher::query`], by comparing with every stored fingerprint: the way to check the index.
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn scan(&mut self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.now().query(fingerprint, k, true)
    }
}
