//! Whether a document has enough features to be told from others.
//!
//! Documents without features have the same sketch, whatever they say. The features that count here are the distinct ones,
//! for every preset; one that weighs nothing does not count, and an empty one neither (the features `chars:N` of an empty
//! text are one empty feature).

use std::fmt;

use crate::hash::{self, HashSet};

/// A document has fewer features than were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// Distinct features that it has.
    pub features: usize,
}

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.features {
            1 => f.write_str("1 feature"),
            features => write!(f, "{features} features"),
        }
    }
}

impl std::error::Error for TooFew {}

/// Distinct features by their hashes, counted until there are enough: so they cost hardly anything.
pub(crate) struct Enough {
    least: usize,
    empty: u64,
    seen: HashSet,
}

impl Enough {
    /// As long as there are fewer than `least`, there are not enough.
    pub(crate) fn new(least: usize) -> Self {
        Self { least, empty: hash::of_text(""), seen: HashSet::default() }
    }

    /// Counts a feature by its native hash, which is made only if it matters.
    #[inline]
    pub(crate) fn add(&mut self, hash: impl FnOnce() -> u64) {
        if self.seen.len() < self.least {
            let hash = hash();
            if hash != self.empty {
                self.seen.insert(hash);
            }
        }
    }

    /// What was made of the features, if there were enough.
    pub(crate) fn check<T>(&self, made: T) -> Result<T, TooFew> {
        let features = self.seen.len();
        if features < self.least { Err(TooFew { features }) } else { Ok(made) }
    }
}
