//! How near removed records are to the keepers of their clusters.

use crate::cluster::components::Components;
use crate::cluster::linker::Linker;
use crate::cluster::numbers::Numbers;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::JobContext;
use crate::join::keys::SketchBuffers;
use crate::segment::Segment;
use std::sync::{Arc, OnceLock};

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

    /// Counts shared keys, which takes a pass over all of them, if this was not done before. `keepers` has the
    /// fingerprints of the components' keepers.
    pub(crate) fn count(&self, segments: &[Arc<Segment>], components: &Components, keepers: &[F]) -> Result<()> {
        let Self::Linked { linker, shared, job, .. } = self else { return Ok(()) };
        if shared.get().is_some() {
            return Ok(());
        }
        let numbers = job.executor.run(|| Numbers::<F>::new(segments, job.memory / 2))?;
        let mut rest = job.clone();
        rest.memory = job.memory - numbers.bytes();
        let counted = linker.count_shared(&numbers, components, keepers, &rest)?;
        // Another thread may have counted the same.
        let _ = shared.set(counted);
        Ok(())
    }

    /// How near the fingerprint with a number is to its keeper's.
    pub(crate) fn of(&self, number: u32, fingerprint: F, keeper: F, buffers: &mut SketchBuffers) -> Result<Nearness> {
        match self {
            Self::Distance { .. } => Ok(Nearness::Distance(fingerprint.distance(keeper))),
            Self::Linked { linker, shared, .. } => {
                let shared = shared.get().and_then(|shared| shared.get(number as usize)).copied().unwrap_or(0).into();
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
