//! Queries of an open store, and joins over it.

use super::Store;
use crate::cluster::Clusters;
use crate::db::{FilterStatistics, filters};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Match};
use crate::join::Pairs;
use crate::options::Filters;
use crate::query::{Searcher, Visit};
use crate::version::RecordIter;

impl<F: Fingerprint> Store<F> {
    /// All records within distance `k` of a fingerprint, by distance, then fingerprint, then id. Complete for any `k`,
    /// and slower above the store's maximum. For many queries, use [`Store::searcher`], which reuses its buffers.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![0b0000u64, 0b0111, 0b1111]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// let near = store.query(0b0011, 2)?.into_iter().map(|found| (found.distance, found.fingerprint));
    /// assert!(near.eq([(1, 0b0111), (2, 0b0000), (2, 0b1111)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width; `Damaged` or `Io` from reading.
    pub fn query(&self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.inner().ask(|searcher| searcher.query(fingerprint, k, false))
    }

    /// Some record within distance `k` of a fingerprint: the first that is found.
    ///
    /// # Errors
    /// As [`Store::query`].
    pub fn contains_near(&self, fingerprint: F, k: u32) -> Result<Option<Match<F>>> {
        self.inner().ask(|searcher| searcher.contains_near(fingerprint, k))
    }

    /// The `count` records nearest to a fingerprint at any distance, in the order of [`Store::query`].
    ///
    /// ```
    /// # use fpstore::{Id, Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![0, u64::MAX, u64::MAX << 20]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// let nearest = store.nearest(u64::MAX << 8, 2)?;
    /// assert_eq!((&nearest[0].id, nearest[0].distance), (&Id::Number(1), 8));
    /// assert_eq!((&nearest[1].id, nearest[1].distance), (&Id::Number(2), 12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub fn nearest(&self, fingerprint: F, count: usize) -> Result<Vec<Match<F>>> {
        self.inner().ask(|searcher| searcher.first_of(fingerprint, count, &Visit::within(F::WIDTH)))
    }

    /// A searcher for many queries; one a thread. Each query sees the latest state.
    #[must_use]
    pub fn searcher(&self) -> Searcher<'_, F> {
        Searcher::following(&self.inner().context, &self.inner().latest)
    }

    /// All records by fingerprint, then id, as they are now.
    #[must_use]
    pub fn records(&self) -> RecordIter<F> {
        RecordIter::new(&self.inner().read_view())
    }

    /// All pairs of present records within distance `k`. Later writes do not change the pairs.
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width.
    pub fn pairs(&self, k: u32) -> Result<Pairs<F>> {
        self.snapshot().pairs(k)
    }

    /// All pairs within distance `k` of a record of this store and one of another.
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width, or fingerprints of the two were made by different hashers.
    pub fn pairs_with(&self, other: &Self, k: u32) -> Result<Pairs<F>> {
        self.snapshot().pairs_with(&other.snapshot(), k)
    }

    /// The clusters of all present records at distance `k`. Later writes do not change the clusters.
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width.
    pub fn clusters(&self, k: u32) -> Result<Clusters<F>> {
        self.snapshot().clusters(k)
    }

    /// Makes the filters of a store that was opened without them ([`crate::Filters::Off`]), or has had few queries, now
    /// or in the background.
    pub fn make_filters(&self, when: Filters) {
        self.inner().make_filters(when);
    }

    /// Waits for the filters that are made in the background ([`crate::Filters`]), and begins to make them if there
    /// were few queries so far.
    pub fn wait_for_filters(&self) {
        self.inner().wait_for_filters();
    }

    /// Bytes of memory of the present filters.
    #[must_use]
    pub fn filter_bytes(&self) -> u64 {
        self.filter_statistics().built_bytes
    }

    /// The present filters, and those for which there is no memory.
    #[must_use]
    pub fn filter_statistics(&self) -> FilterStatistics {
        filters::statistics(&self.inner().super_version().segments, &self.inner().context)
    }
}
