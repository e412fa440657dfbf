//! Queries, statistics, joins and clusters of a snapshot.

use crate::admin::{Statistics, statistics};
use crate::cluster::Clusters;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::Pairs;
use crate::query::Searcher;
use crate::version::{RecordIter, Snapshot};

impl<F: Fingerprint> Snapshot<F> {
    /// A searcher for many queries; one a thread.
    #[must_use]
    pub fn searcher(&self) -> Searcher<'static, F> {
        Searcher::of_view(self.context(), self.read_view().clone())
    }

    /// All records by fingerprint, then id.
    #[must_use]
    pub fn records(&self) -> RecordIter<F> {
        RecordIter::new(self.read_view())
    }

    /// As [`crate::Store::statistics`].
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        statistics::of_view(self.context(), self.read_view())
    }

    /// As [`crate::Store::pairs`].
    ///
    /// # Errors
    /// Those of [`crate::Store::pairs`].
    pub fn pairs(&self, k: u32) -> Result<Pairs<F>> {
        Pairs::new(self, None, k)
    }

    /// As [`crate::Store::pairs_with`].
    ///
    /// # Errors
    /// Those of [`crate::Store::pairs_with`].
    pub fn pairs_with(&self, other: &Self, k: u32) -> Result<Pairs<F>> {
        Pairs::new(self, Some(other), k)
    }

    /// As [`crate::Store::clusters`].
    ///
    /// # Errors
    /// Those of [`crate::Store::clusters`].
    pub fn clusters(&self, k: u32) -> Result<Clusters<F>> {
        Clusters::new(self, k)
    }
}
