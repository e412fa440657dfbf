//! The distinct features of a document, to compute exact Jaccard similarities.

use std::cmp::Ordering;

use crate::document::Document;
use crate::features::Splitter;

/// The distinct features of a document, by their hashes in ascending order. Among a million features two share a hash
/// once in 37 million documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureSet(Box<[u64]>);

impl FeatureSet {
    /// Returns the features of a document that is normalised already. See [`crate::Preparation::set`] for others.
    #[must_use]
    pub fn new(document: Document<'_>, splitter: &Splitter) -> Self {
        let mut hashes = Vec::new();
        splitter.hashes(document, |hash| hashes.push(hash));
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes.into())
    }

    /// Returns the shared features as a share of all distinct features, from 0 to 1; 1 if there are none at all.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "lengths of documents")]
    pub fn jaccard(&self, other: &Self) -> f64 {
        let (mut a, mut b) = (&*self.0, &*other.0);
        let mut shared = 0;
        while let (Some((first, rest)), Some((other, others))) = (a.split_first(), b.split_first()) {
            match first.cmp(other) {
                Ordering::Less => a = rest,
                Ordering::Greater => b = others,
                Ordering::Equal => (a, b, shared) = (rest, others, shared + 1),
            }
        }
        match self.0.len() + other.0.len() - shared {
            0 => 1.0,
            all => shared as f64 / all as f64,
        }
    }

    /// Number of distinct features.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
