//! Labels of an earlier clustering, as the caller passes them in.

use crate::cluster::clusters::Clusters;
use crate::cluster::earlier_clusters::{self, Doubt, Known};
use crate::cluster::keys::Keys;
use crate::cluster::labels::LabelRef;
use crate::cluster::match_by_place::Matching;
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, IdKind};
use crate::join::Progress;
use std::fmt;

/// Labels of an earlier clustering: for each record the label of its cluster. Made by [`Clusters::previous`].
///
/// They may come in any order, except that records which share an id keep their order. In the order of the store, as a
/// clustering returns them, they take a fraction of the time. All labels of a clustering have to come, also of records
/// that are gone: they show that a cluster has lost a record. Labels beyond the memory go to a temporary file.
pub struct Previous<F: Fingerprint = u64> {
    labels: Labels<F>,
    keys: Keys,
    count: u64,
    progress: Progress,
}

impl<F: Fingerprint> fmt::Debug for Previous<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Previous").field("count", &self.count).finish_non_exhaustive()
    }
}

/// Records between two checks whether to stop.
const CHECKED: u64 = 1 << 16;

enum Labels<F: Fingerprint> {
    Narrow(Matching<F, u64>),
    Wide(Matching<F, u128>),
}

impl<F: Fingerprint> Previous<F> {
    pub(crate) fn new(clusters: &Clusters<F>, memory: u64) -> Result<Self> {
        let narrow = match clusters.parameters.ids() {
            IdKind::Number => true,
            IdKind::Text => false,
            IdKind::None => F::WORDS == 1,
        };
        let keys = Keys::default();
        let labels = if narrow {
            Labels::Narrow(Matching::new(clusters, &keys, memory)?)
        } else {
            Labels::Wide(Matching::new(clusters, &keys, memory)?)
        };
        Ok(Self { labels, keys, count: 0, progress: clusters.progress() })
    }

    /// Takes a record and the label of its cluster: ids or, without ids, fingerprints.
    ///
    /// # Errors
    /// `Io` if it cannot be written to the temporary file; `Damaged` or `Io` from reading the store; `Stopped` if the
    /// work was stopped.
    pub fn push<'a>(&mut self, record: impl Into<LabelRef<'a, F>>, cluster: impl Into<LabelRef<'a, F>>) -> Result<()> {
        let (record, cluster) = (record.into(), cluster.into());
        let line = self.count;
        self.count += 1;
        if self.count.is_multiple_of(CHECKED) {
            self.progress.check()?;
        }
        match &mut self.labels {
            Labels::Narrow(matching) => matching.push(&self.keys, record, cluster, line),
            Labels::Wide(matching) => matching.push(&self.keys, record, cluster, line),
        }
    }

    /// Unites the sets of records that are still in one cluster; walks within `memory` bytes.
    pub(crate) fn unite(self, sets: &UnionFind, doubt: Doubt<'_>, memory: u64) -> Result<Known<F>> {
        let (keys, progress) = (&self.keys, &self.progress);
        match self.labels {
            Labels::Narrow(mut matching) => {
                matching.end(keys)?;
                earlier_clusters::unite(matching, self.count, (sets, doubt), memory, progress)
            }
            Labels::Wide(mut matching) => {
                matching.end(keys)?;
                earlier_clusters::unite(matching, self.count, (sets, doubt), memory, progress)
            }
        }
    }
}
