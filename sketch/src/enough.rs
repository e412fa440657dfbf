//! Whether a document has enough features to be distinguished from others.
//!
//! All documents without features have the same sketch, whatever their text. Every preset counts distinct features
//! here. A feature of weight zero does not count, and neither does an empty one (the features `chars:N` of an empty
//! text are one empty feature).

use std::fmt;

use crate::hash::{self, HashSet};

/// A document has fewer features than the caller asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// Number of distinct features of the document.
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

/// Counts distinct features by their hashes. It stops counting at the least number, so the count costs little.
pub(crate) struct Enough {
    least: usize,
    empty: u64,
    seen: HashSet,
}

impl Enough {
    /// Counts until there are `least` features.
    pub(crate) fn new(least: usize) -> Self {
        Self { least, empty: hash::of_text(""), seen: HashSet::default() }
    }

    /// Counts a feature by its native hash, which is computed only if it is needed.
    #[inline]
    pub(crate) fn add(&mut self, hash: impl FnOnce() -> u64) {
        if self.seen.len() < self.least {
            let hash = hash();
            if hash != self.empty {
                self.seen.insert(hash);
            }
        }
    }

    /// Returns `made` if there were enough features.
    pub(crate) fn check<T>(&self, made: T) -> Result<T, TooFew> {
        let features = self.seen.len();
        if features < self.least { Err(TooFew { features }) } else { Ok(made) }
    }
}
