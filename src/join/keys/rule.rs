//! Which records of a key index are a pair.

use crate::error::Result;
use crate::format::Parameters;
use crate::query::keys::Threshold;

/// Two records are a pair if they share enough keys, and their sketches are similar enough. By default one key is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeyRule {
    pub(crate) threshold: Threshold,
    pub(crate) most: Option<u64>,
}

impl KeyRule {
    /// Any shared key makes a pair.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Pairs share at least this many keys; 0 counts as 1.
    #[must_use]
    pub fn with_min_shared(mut self, min_shared: u64) -> Self {
        self.threshold.min_shared = min_shared.max(1);
        self
    }

    /// The Jaccard similarity of pairs is estimated as at least this, 0 to 1. Needs sketches if it is above 0.
    #[must_use]
    pub fn with_min_jaccard(mut self, min_jaccard: f64) -> Self {
        self.threshold.min_jaccard = min_jaccard;
        self
    }

    /// Keys of more than `most` records do not count; they are counted and reported.
    #[must_use]
    pub fn with_max_key_frequency(mut self, most: u64) -> Self {
        self.most = Some(most);
        self
    }

    /// Whether records with so much in common are a pair.
    pub(crate) fn takes(&self, shared: u64, jaccard: Option<f64>) -> bool {
        let Threshold { min_shared, min_jaccard } = self.threshold;
        shared >= min_shared && jaccard.is_none_or(|jaccard| jaccard >= min_jaccard)
    }

    /// Whether every shared key makes a pair.
    pub(crate) fn takes_all(&self) -> bool {
        self.threshold == Threshold::default()
    }

    /// Refuses a similarity that an index with these parameters cannot estimate.
    pub(crate) fn check(&self, parameters: &Parameters) -> Result<()> {
        let has_sketches = parameters.keys().is_some_and(|keys| keys.sketch_bits() > 0);
        self.threshold.check(has_sketches, "create the index with sketches")
    }
}
