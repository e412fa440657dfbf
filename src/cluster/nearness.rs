//! How near removed records are to the keepers of their clusters.

use crate::cluster::linker::Linker;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::keys::SketchBuffers;
use std::sync::Arc;

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

/// Measures how near records are to the keepers of their clusters.
#[derive(Debug)]
pub(crate) enum Measure<F> {
    /// By fingerprints, of which near ones differ in at most `k` bits.
    Distance { k: u32 },
    /// By a linker. `shared` has by number the keys that the record and its keeper both have, if keepers were kept.
    Linked { linker: Arc<dyn Linker<F>>, shared: Vec<u32> },
}

impl<F: Fingerprint> Measure<F> {
    /// How near the fingerprint with a number is to its keeper's.
    pub(crate) fn of(&self, number: u32, fingerprint: F, keeper: F, buffers: &mut SketchBuffers) -> Result<Nearness> {
        match self {
            Self::Distance { .. } => Ok(Nearness::Distance(fingerprint.distance(keeper))),
            Self::Linked { linker, shared } => {
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
