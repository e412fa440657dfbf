//! Which records of a key index are a pair.

use crate::error::{Error, Result};

/// Two records are a pair if they share enough keys, and their sketches are similar enough. By default one key is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyRule {
    pub(crate) min_shared: u64,
    pub(crate) min_jaccard: f64,
    pub(crate) most: Option<u64>,
}

impl Default for KeyRule {
    fn default() -> Self {
        Self { min_shared: 1, min_jaccard: 0.0, most: None }
    }
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
        self.min_shared = min_shared.max(1);
        self
    }

    /// The Jaccard similarity of pairs is estimated as at least this, 0 to 1. Needs sketches if it is above 0.
    #[must_use]
    pub fn with_min_jaccard(mut self, min_jaccard: f64) -> Self {
        self.min_jaccard = min_jaccard;
        self
    }

    /// Keys of more than `most` records do not count; they are counted and reported.
    #[must_use]
    pub fn with_max_key_frequency(mut self, most: u64) -> Self {
        self.most = Some(most);
        self
    }

    /// Whether every shared key makes a pair.
    pub(crate) fn takes_all(&self) -> bool {
        self.min_shared <= 1 && self.min_jaccard <= 0.0
    }

    pub(crate) fn check(&self, has_sketches: bool) -> Result<()> {
        if !(0.0..=1.0).contains(&self.min_jaccard) {
            return Err(Error::invalid(format!("a Jaccard similarity of {} is not possible", self.min_jaccard))
                .with_remedy("use a number from 0 to 1"));
        }
        if self.min_jaccard > 0.0 && !has_sketches {
            return Err(Error::invalid("without sketches no Jaccard similarity can be estimated")
                .with_remedy("create the index with sketches"));
        }
        Ok(())
    }
}
