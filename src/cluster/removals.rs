//! The evidence of earlier stars, as the caller passes it in.

use crate::cluster::clusters::Clusters;
use crate::cluster::keys::{Key, Keys};
use crate::cluster::labels::LabelRef;
use crate::cluster::match_removals::{Earlier, Row, fault, matched};
use crate::cluster::nearness::Nearness;
use crate::cluster::numbers::Numbers;
use crate::error::Result;
use crate::extsort::Sorter;
use crate::fingerprint::{Fingerprint, IdKind};
use std::fmt;
use std::marker::PhantomData;

/// Records between two checks whether to stop.
const CHECKED: u64 = 1 << 16;

/// The evidence of earlier stars of a store: its removed records, each with its keeper. Made by [`Clusters::removals`].
///
/// All rows of [`crate::clusters::Clustering::visit_decisions`] have to come, in any order. Rows beyond the memory go
/// to a temporary file.
pub struct Removals<F: Fingerprint = u64> {
    rows: Rows,
    keys: Keys,
    has_ids: bool,
    k: u32,
    count: u64,
    progress: crate::join::Progress,
    fingerprints: PhantomData<F>,
}

enum Rows {
    Narrow(Sorter<Row<u64>>),
    Wide(Sorter<Row<u128>>),
}

impl<F: Fingerprint> fmt::Debug for Removals<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Removals").field("count", &self.count).finish_non_exhaustive()
    }
}

impl<F: Fingerprint> Removals<F> {
    pub(crate) fn new(clusters: &Clusters<F>, memory: u64) -> Self {
        let kind = clusters.parameters.ids();
        let is_narrow = kind == IdKind::Number || kind == IdKind::None && F::WORDS == 1;
        let workspace = clusters.job.workspace(memory);
        let rows = match is_narrow {
            true => Rows::Narrow(Sorter::new(&workspace, memory)),
            false => Rows::Wide(Sorter::new(&workspace, memory)),
        };
        let (has_ids, progress) = (kind != IdKind::None, clusters.progress());
        Self { rows, keys: Keys::default(), has_ids, k: clusters.k, count: 0, progress, fingerprints: PhantomData }
    }

    /// Takes a removed record, its keeper, both as ids or, without ids, as fingerprints, and how near they are: the
    /// bits in which they differ, or what they share ([`Nearness`]). `line` names the row in errors; later rows have
    /// greater ones.
    ///
    /// # Errors
    /// `InvalidInput` if the distance is above that of the clusters, or the record is its own keeper; `Io` if it cannot
    /// be written to the temporary file; `Stopped` if the work was stopped.
    pub fn push<'a>(
        &mut self,
        record: impl Into<LabelRef<'a, F>>,
        keeper: impl Into<LabelRef<'a, F>>,
        nearness: impl Into<Nearness>,
        line: u64,
    ) -> Result<()> {
        let (record, keeper) = (record.into(), keeper.into());
        self.count += 1;
        if self.count.is_multiple_of(CHECKED) {
            self.progress.check()?;
        }
        // The keys of a record are compared with those of its keeper when all rows are there.
        if let Some(distance) = nearness.into().distance().filter(|&distance| distance > self.k) {
            return Err(fault(line, &format!("the distance from the keeper is {distance}, more than {}", self.k)));
        }
        if record == keeper {
            // Without ids, the other records of the keeper's fingerprint are removed.
            return if self.has_ids { Err(fault(line, "a record cannot be its own keeper")) } else { Ok(()) };
        }
        match &mut self.rows {
            Rows::Narrow(rows) => rows.push(row(&self.keys, record, keeper, line)),
            Rows::Wide(rows) => rows.push(row(&self.keys, record, keeper, line)),
        }
    }

    /// Matches the rows with the store's records, within `memory` bytes.
    pub(crate) fn matched(self, clusters: &Clusters<F>, numbers: &Numbers<F>, memory: u64) -> Result<Earlier> {
        match self.rows {
            Rows::Narrow(rows) => matched(clusters, numbers, &self.keys, rows, memory),
            Rows::Wide(rows) => matched(clusters, numbers, &self.keys, rows, memory),
        }
    }
}

fn row<F: Fingerprint, K: Key>(keys: &Keys, record: LabelRef<'_, F>, keeper: LabelRef<'_, F>, line: u64) -> Row<K> {
    (keys.key(record), (line, keys.key(keeper)))
}
