//! Labels that records have had, on their way to being clusters again.

use super::known::{self, Known};
use super::{Clusters, Label};
use crate::bulk::{Item, Sorter, Workspace};
use crate::cluster::{Bitset, UnionFind};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, IdKind};
use crate::store::means::Progress;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::marker::PhantomData;
use xxhash_rust::xxh64::Xxh64;

/// Labels of an earlier clustering: of each record the label of its cluster, in any order. Made by [`Clusters::previous`].
///
/// What does not fit its memory goes to a temporary file.
pub struct Previous<F: Fingerprint = u64> {
    labels: Labels,
    keys: Keys,
    /// What was pushed so far.
    state: Xxh64,
    count: u64,
    progress: Progress,
    fingerprints: PhantomData<F>,
}

impl<F: Fingerprint> fmt::Debug for Previous<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Previous").field("count", &self.count).finish_non_exhaustive()
    }
}

/// Records between two looks at whether the work is to stop.
const CHECKED: u64 = 1 << 16;

/// Keys of a record and of its label, and the number of the line: equal ones are all kept.
pub(super) type Line<K> = (K, (K, u64));

#[derive(Debug)]
enum Labels {
    Narrow(Sorter<Line<u64>>),
    Wide(Sorter<Line<u128>>),
}

impl<F: Fingerprint> Previous<F> {
    pub(super) fn new(kind: IdKind, workspace: Workspace, progress: Progress) -> Self {
        let narrow = match kind {
            IdKind::Number => true,
            IdKind::Text => false,
            IdKind::None => F::WORDS == 1,
        };
        let labels = if narrow {
            Labels::Narrow(workspace.sorter(workspace.memory))
        } else {
            Labels::Wide(workspace.sorter(workspace.memory))
        };
        let keys = Keys(Default::default());
        Self { labels, keys, state: Xxh64::new(0), count: 0, progress, fingerprints: PhantomData }
    }

    /// Takes a record and the label of its cluster: ids or, where there are none, fingerprints.
    ///
    /// # Errors
    /// `Io` if it cannot be written to the temporary file; `Stopped` if the work was told to stop.
    pub fn push(&mut self, record: &Label<F>, cluster: &Label<F>) -> Result<()> {
        for label in [record, cluster] {
            let mut update = |number: u64| self.state.update(&number.to_le_bytes());
            match label {
                Label::Id(Id::Number(number) | Id::Count(number)) => update(*number),
                Label::Id(Id::Text(text)) => {
                    update(text.len() as u64);
                    self.state.update(text.as_bytes());
                }
                Label::Fingerprint(one) => (0..F::WORDS).for_each(|number| update(one.word(number))),
            }
        }
        self.count += 1;
        if self.count.is_multiple_of(CHECKED) {
            self.progress.check()?;
        }
        match &mut self.labels {
            Labels::Narrow(sorter) => sorter.push(line(&self.keys, record, cluster, self.count)),
            Labels::Wide(sorter) => sorter.push(line(&self.keys, record, cluster, self.count)),
        }
    }

    /// A number that is another one for other labels.
    pub(super) fn state(&self) -> u64 {
        self.state.digest()
    }

    /// Unites the sets of records that are still in one cluster; the numbers of fingerprints that may be near any others. Takes so
    /// many bytes of memory, a quarter of it for what was pushed.
    pub(super) fn unite(self, clusters: &Clusters<F>, sets: &UnionFind, memory: u64) -> Result<Bitset> {
        let known = Known { clusters, keys: &self.keys, sets, memory };
        match self.labels {
            Labels::Narrow(sorter) => known::unite(&known, &sorter.finish()?),
            Labels::Wide(sorter) => known::unite(&known, &sorter.finish()?),
        }
    }
}

fn line<F: Fingerprint, K: Key>(keys: &Keys, record: &Label<F>, cluster: &Label<F>, number: u64) -> Line<K> {
    (keys.key(record), (keys.key(cluster), number))
}

/// What stands for an id where ids are sorted.
pub(super) trait Key: Item {
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

/// Makes keys: numbers and fingerprints of up to 128 bits as they are, and of all else a hash of 128 bits (twice SipHash) that nobody
/// can foresee: that two of 2^40 ids have the same one happens once in 2^49 runs.
#[derive(Debug)]
pub(super) struct Keys([RandomState; 2]);

impl Keys {
    pub(super) fn key<F: Fingerprint, K: Key>(&self, label: &Label<F>) -> K {
        let wide = |[high, low]: [u64; 2]| u128::from(high) << 64 | u128::from(low);
        K::of(match label {
            Label::Id(Id::Number(number) | Id::Count(number)) => u128::from(*number),
            Label::Id(Id::Text(text)) => wide(self.0.each_ref().map(|hasher| hasher.hash_one(text))),
            Label::Fingerprint(one) if F::WORDS == 1 => u128::from(one.word(0)),
            Label::Fingerprint(one) if F::WORDS == 2 => wide([one.word(0), one.word(1)]),
            Label::Fingerprint(one) => wide(self.0.each_ref().map(|hasher| hasher.hash_one(one))),
        })
    }
}
