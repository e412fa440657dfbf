//! What a query of a key index asks for, and its answers.

use crate::error::{Error, Result};
use crate::fingerprint::Id;

/// Which records a query of a key index returns. By default all that share a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyQuery {
    pub(super) min_shared: u64,
    pub(super) min_jaccard: f64,
    pub(super) nearest: Option<usize>,
}

impl Default for KeyQuery {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyQuery {
    /// All records that share at least one key.
    #[must_use]
    pub fn new() -> Self {
        Self { min_shared: 1, min_jaccard: 0.0, nearest: None }
    }

    /// Only records that share at least this many keys; 0 counts as 1.
    #[must_use]
    pub fn with_min_shared(mut self, min_shared: u64) -> Self {
        self.min_shared = min_shared.max(1);
        self
    }

    /// Only records whose estimated Jaccard similarity is at least this, 0 to 1. Needs sketches if it is above 0.
    #[must_use]
    pub fn with_min_jaccard(mut self, min_jaccard: f64) -> Self {
        self.min_jaccard = min_jaccard;
        self
    }

    /// Only the first `nearest` records of the answer.
    #[must_use]
    pub fn with_nearest(mut self, nearest: usize) -> Self {
        self.nearest = Some(nearest);
        self
    }

    pub(super) fn check(&self, has_sketches: bool) -> Result<()> {
        if !(0.0..=1.0).contains(&self.min_jaccard) {
            return Err(Error::invalid(format!("a Jaccard similarity of {} is not possible", self.min_jaccard))
                .with_remedy("use a number from 0 to 1"));
        }
        if self.min_jaccard > 0.0 && !has_sketches {
            return Err(Error::invalid("without sketches no Jaccard similarity can be estimated")
                .with_remedy("create the index with sketches, and ask with one"));
        }
        Ok(())
    }
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
