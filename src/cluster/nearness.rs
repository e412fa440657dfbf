//! How near removed records are to the keepers of their clusters.

use crate::cluster::components::Components;
use crate::cluster::linker::Linker;
use crate::cluster::numbers::Numbers;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::JobContext;
use crate::join::keys::SketchBuffers;
use crate::segment::Segment;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Classes of similarities, all of the same width.
const SIMILARITIES: usize = 20;

/// How near a record is to the keeper of its cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// Bits in which the fingerprints differ.
    Distance(u32),
    /// In a key index.
    Keys {
        /// Keys that both records have, without those that do not count
        /// ([`crate::keys::KeyRule::with_max_key_frequency`]).
        shared: u64,
        /// The Jaccard similarity that their sketches estimate, if there are sketches.
        jaccard: Option<f64>,
    },
}

impl Nearness {
    /// Bits in which the fingerprints differ; nothing in a key index.
    #[must_use]
    pub fn distance(self) -> Option<u32> {
        match self {
            Self::Distance(distance) => Some(distance),
            Self::Keys { .. } => None,
        }
    }
}

impl From<u32> for Nearness {
    fn from(distance: u32) -> Self {
        Self::Distance(distance)
    }
}

/// Numbers of records by how near each is to a keeper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearnesses {
    /// By distance: so many records differ in 0 bits, so many in 1 bit, and so on. Empty of a key index.
    pub distances: Vec<u64>,
    /// In a key index, by the number of keys in common. Numbers without records are missing.
    pub shared_keys: BTreeMap<u64, u64>,
    /// In a key index with sketches, by estimated Jaccard similarity in twentieths: so many records are below 0.05, so
    /// many below 0.1, and so on; the last class includes 1. Empty if there are no records.
    pub jaccard: Vec<u64>,
    /// Records that are not near the keeper by the rule that links records.
    pub far: u64,
}

impl Nearnesses {
    pub(crate) fn add(&mut self, nearness: Nearness, records: u64, is_far: bool) {
        if records == 0 {
            return;
        }
        let add = |count: &mut u64| *count = count.saturating_add(records);
        if is_far {
            add(&mut self.far);
        }
        match nearness {
            Nearness::Distance(distance) => {
                let at = distance as usize;
                if at >= self.distances.len() {
                    self.distances.resize(at + 1, 0);
                }
                self.distances.get_mut(at).into_iter().for_each(add);
            }
            Nearness::Keys { shared, jaccard } => {
                add(self.shared_keys.entry(shared).or_default());
                let Some(jaccard) = jaccard else { return };
                self.jaccard.resize(SIMILARITIES, 0);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
                let at = (jaccard * SIMILARITIES as f64) as usize;
                self.jaccard.get_mut(at.min(SIMILARITIES - 1)).into_iter().for_each(add);
            }
        }
    }

    pub(crate) fn merge(&mut self, more: Self) {
        for (all, more) in [(&mut self.distances, more.distances), (&mut self.jaccard, more.jaccard)] {
            if all.len() < more.len() {
                all.resize(more.len(), 0);
            }
            all.iter_mut().zip(more).for_each(|(all, more)| *all = all.saturating_add(more));
        }
        for (shared, more) in more.shared_keys {
            let all = self.shared_keys.entry(shared).or_default();
            *all = all.saturating_add(more);
        }
        self.far = self.far.saturating_add(more.far);
    }
}

/// Measures how near records are to the keepers of their clusters.
#[derive(Debug)]
pub(crate) enum Measure<F> {
    /// By fingerprints, of which near ones differ in at most `k` bits.
    Distance { k: u32 },
    /// By a linker.
    Linked {
        linker: Arc<dyn Linker<F>>,
        /// By number the keys that the record and its keeper both have, once they were counted.
        shared: OnceLock<Vec<u32>>,
        /// The memory for counting.
        job: JobContext,
        /// Whether the linkage leaves out only records that are near their keepers.
        all_near: bool,
    },
}

impl<F: Fingerprint> Measure<F> {
    /// Whether it is known without measuring that records are near their keepers.
    pub(crate) fn all_near(&self) -> bool {
        matches!(self, Self::Linked { all_near: true, .. })
    }

    /// Expects records far from their keepers.
    pub(crate) fn expect_far(&mut self) {
        if let Self::Linked { all_near, .. } = self {
            *all_near = false;
        }
    }

    /// Counts shared keys for [`Measure::of`], if this was not done before.
    pub(crate) fn count(&self, segments: &[Arc<Segment>], components: &Components, keepers: &[F]) -> Result<()> {
        if let Self::Linked { shared, .. } = self
            && shared.get().is_none()
        {
            // Another thread may have counted the same.
            let _ = shared.set(self.shared(segments, components, keepers)?);
        }
        Ok(())
    }

    /// By number the keys that each record of these components and its keeper both have, which takes a pass over all
    /// keys; nothing of fingerprints. `keepers` has the fingerprints of the components' keepers.
    pub(crate) fn shared(&self, segments: &[Arc<Segment>], components: &Components, keepers: &[F]) -> Result<Vec<u32>> {
        let Self::Linked { linker, job, .. } = self else { return Ok(Vec::new()) };
        let numbers = job.executor.run(|| Numbers::<F>::new(segments, job.memory / 2))?;
        let mut rest = job.clone();
        rest.memory = job.memory - numbers.bytes();
        linker.count_shared(&numbers, components, keepers, &rest)
    }

    /// How near the fingerprint with a number is to its keeper's.
    pub(crate) fn of(&self, number: u32, fingerprint: F, keeper: F, buffers: &mut SketchBuffers) -> Result<Nearness> {
        let shared = if let Self::Linked { shared, .. } = self { shared.get() } else { None };
        self.with_shared(shared.map_or(&[], Vec::as_slice), (number, fingerprint), keeper, buffers)
    }

    /// As [`Measure::of`], to the keeper for which [`Measure::shared`] counted.
    pub(crate) fn with_shared(
        &self,
        shared: &[u32],
        (number, fingerprint): (u32, F),
        keeper: F,
        buffers: &mut SketchBuffers,
    ) -> Result<Nearness> {
        match self {
            Self::Distance { .. } => Ok(Nearness::Distance(fingerprint.distance(keeper))),
            Self::Linked { linker, .. } => {
                let shared = shared.get(number as usize).copied().unwrap_or(0).into();
                Ok(Nearness::Keys { shared, jaccard: linker.jaccard(fingerprint, keeper, buffers)? })
            }
        }
    }

    /// Whether records are not a near pair.
    pub(crate) fn is_far(&self, nearness: Nearness) -> bool {
        match (self, nearness) {
            (Self::Distance { k }, Nearness::Distance(distance)) => distance > *k,
            (Self::Linked { linker, .. }, Nearness::Keys { shared, jaccard }) => !linker.is_near(shared, jaccard),
            _ => false,
        }
    }
}
