//! Labels that records have had, on their way to being clusters again.

use crate::cluster::clusters::Clusters;
use crate::cluster::known::{self, Told};
use crate::cluster::labels::LabelRef;
use crate::cluster::matching::Matching;
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::extsort::Item;
use crate::fingerprint::{Fingerprint, IdKind};
use crate::join::Progress;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use xxhash_rust::xxh64::xxh64;

/// Labels of an earlier clustering: of each record the label of its cluster. Made by [`Clusters::previous`].
///
/// They may come in any order, but for those of records that share an id, which keep theirs; in the order of the store, as a
/// clustering gives them, they take a fraction of the time. All of a clustering have to come, also of records that are gone since:
/// they tell which clusters have lost one. What does not fit its memory goes to a temporary file.
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

/// Records between two looks at whether the work is to stop.
const CHECKED: u64 = 1 << 16;

/// Keys of a record and of its label, and the number of the line: equal ones are all kept.
pub(crate) type Line<K> = (K, (K, u64));

enum Labels<F: Fingerprint> {
    Narrow(Matching<F, u64>),
    Wide(Matching<F, u128>),
}

impl<F: Fingerprint> Previous<F> {
    /// For these records, within so many bytes of memory.
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

    /// Takes a record and the label of its cluster: ids or, where there are none, fingerprints.
    ///
    /// # Errors
    /// `Io` if it cannot be written to the temporary file; `Damaged` or `Io` from reading the store; `Stopped` if the work was told to
    /// stop.
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

    /// Unites the sets of records that are still in one cluster; walks within so many bytes of memory.
    pub(crate) fn unite(self, sets: &UnionFind, memory: u64) -> Result<Told<F>> {
        let (keys, count, progress) = (&self.keys, sets.count(), &self.progress);
        match self.labels {
            Labels::Narrow(mut matching) => {
                matching.end(keys)?;
                known::unite(matching, sets, count, memory, progress)
            }
            Labels::Wide(mut matching) => {
                matching.end(keys)?;
                known::unite(matching, sets, count, memory, progress)
            }
        }
    }
}

/// What stands for an id where ids are sorted.
pub(crate) trait Key: Item {
    /// The lower bits of a number.
    fn of(number: u128) -> Self;
}

impl Key for u64 {
    #[expect(clippy::cast_possible_truncation, reason = "what is more has wide keys")]
    fn of(number: u128) -> Self {
        number as u64
    }
}

impl Key for u128 {
    fn of(number: u128) -> Self {
        number
    }
}

/// Makes keys: numbers and fingerprints of up to 128 bits as they are, and of all else a hash of 128 bits (XXH64 and SipHash, of which
/// only the latter counts against whoever chooses ids for that) that cannot be foreseen: that two of 2^40 ids have the same one
/// happens once in 2^49 runs.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    seed: u64,
    state: RandomState,
}

impl Default for Keys {
    fn default() -> Self {
        let state = RandomState::new();
        Self { seed: state.hash_one(0), state }
    }
}

impl Keys {
    pub(crate) fn key<F: Fingerprint, K: Key>(&self, label: LabelRef<'_, F>) -> K {
        let wide = |[high, low]: [u64; 2]| u128::from(high) << 64 | u128::from(low);
        K::of(match label {
            LabelRef::Number(number) => u128::from(number),
            LabelRef::Text(text) => wide([xxh64(text.as_bytes(), self.seed), self.state.hash_one(text)]),
            LabelRef::Fingerprint(one) if F::WORDS == 1 => u128::from(one.word(0)),
            LabelRef::Fingerprint(one) if F::WORDS == 2 => wide([one.word(0), one.word(1)]),
            LabelRef::Fingerprint(one) => wide([0u8, 1].map(|half| self.state.hash_one((half, one)))),
        })
    }

    /// The leading bits of the key of a label.
    pub(crate) fn head<F: Fingerprint, K: Key>(&self, label: LabelRef<'_, F>) -> u64 {
        match label {
            LabelRef::Text(text) => xxh64(text.as_bytes(), self.seed),
            _ => self.key::<F, K>(label).key(),
        }
    }
}
