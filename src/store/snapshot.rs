//! One consistent state of a store.

use super::RecordIter;
use super::common::Common;
use super::filters;
use super::query::Searcher;
use super::statistics::{self, Statistics};
use super::view::State;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Match};
use crate::format::Parameters;
use std::path::Path;
use std::sync::Arc;

/// A store as it was at one moment, however long it is read: what was written before is in it, what comes later is not.
///
/// It keeps in memory what had not been flushed, and on disk the segments of its time: their files go when the last snapshot
/// lets go of them, or, where a store merges in the background, at most a tenth of a second later.
///
/// ```
/// use fpstore::{Durability, Options, Parameters, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
/// store.insert(0b0000, 1, Durability::Buffered)?;
/// let before = store.snapshot();
/// store.insert(0b0001, 2, Durability::Buffered)?;
/// store.remove(0b0000, 1, Durability::Buffered)?;
/// assert_eq!(before.query(0b0000, 3)?[0].id, 1);
/// assert_eq!(store.query(0b0000, 3)?[0].id, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Snapshot<F: Fingerprint = u64> {
    common: Arc<Common>,
    state: State<F>,
}

impl<F: Fingerprint> Snapshot<F> {
    pub(super) fn new(common: &Arc<Common>, state: State<F>) -> Self {
        Self { common: Arc::clone(common), state }
    }

    pub(super) fn common(&self) -> &Arc<Common> {
        &self.common
    }

    pub(super) fn state(&self) -> &State<F> {
        &self.state
    }

    /// The store's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.common.path
    }

    /// What was fixed when the store was created.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.common.parameters
    }

    /// As [`crate::Store::query`].
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width; `Damaged` or `Io` from reading.
    pub fn query(&self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.searcher().query(fingerprint, k)
    }

    /// As [`crate::Store::contains_near`].
    ///
    /// # Errors
    /// As [`Snapshot::query`].
    pub fn contains_near(&self, fingerprint: F, k: u32) -> Result<Option<Match<F>>> {
        self.searcher().contains_near(fingerprint, k)
    }

    /// As [`crate::Store::nearest`].
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub fn nearest(&self, fingerprint: F, count: usize) -> Result<Vec<Match<F>>> {
        self.searcher().nearest(fingerprint, count)
    }

    /// As [`crate::Store::scan`].
    ///
    /// # Errors
    /// As [`Snapshot::query`].
    pub fn scan(&self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.searcher().scan(fingerprint, k)
    }

    /// Something to ask many queries with; one a thread.
    #[must_use]
    pub fn searcher(&self) -> Searcher<'static, F> {
        Searcher::of_state(&self.common, self.state.clone())
    }

    /// All records by fingerprint, then id.
    #[must_use]
    pub fn records(&self) -> RecordIter<F> {
        RecordIter::new(&self.state)
    }

    /// Sizes and counts. Takes about a second for a million records that no segment has yet: they are looked up.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let mut statistics = statistics::of_state(&self.common.parameters, &self.state);
        statistics.filters = filters::statistics(&self.state.view.segments, self.common.filter_budget());
        statistics
    }
}
