//! What a query of a key index asks for, and its answers.

use super::threshold::Threshold;
use crate::fingerprint::Id;

/// Which records a query of a key index returns. By default all that share a key.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeyQuery {
    pub(super) threshold: Threshold,
    pub(super) nearest: Option<usize>,
}

impl KeyQuery {
    /// All records that share at least one key.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only records that share at least this many keys; 0 counts as 1.
    #[must_use]
    pub fn with_min_shared(mut self, min_shared: u64) -> Self {
        self.threshold.min_shared = min_shared.max(1);
        self
    }

    /// Only records whose estimated Jaccard similarity is at least this, 0 to 1. Needs sketches if it is above 0.
    #[must_use]
    pub fn with_min_jaccard(mut self, min_jaccard: f64) -> Self {
        self.threshold.min_jaccard = min_jaccard;
        self
    }

    /// Only the first `nearest` records of the answer.
    #[must_use]
    pub fn with_nearest(mut self, nearest: usize) -> Self {
        self.nearest = Some(nearest);
        self
    }
}

/// The keys and the sketch of a query among many ([`crate::keys::KeySearcher::query_batch`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryKeys<'a> {
    /// Its keys, in any order; repeated ones count once.
    pub keys: &'a [u64],
    /// Its sketch; may be empty.
    pub sketch: &'a [u8],
}

/// A record that shares keys with a query.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyMatch {
    /// Its id.
    pub id: Id,
    /// Number of keys that it shares with the query.
    pub shared: u64,
    /// The Jaccard similarity that the two sketches estimate, if both sides have one.
    pub jaccard: Option<f64>,
}
