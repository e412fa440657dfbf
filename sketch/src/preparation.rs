//! How a document becomes features: its text is normalised, then split.

use crate::compare::FeatureSet;
use crate::document::Document;
use crate::features::{Features, Space, Splitter};
use crate::normalise::Normalise;

/// How documents are prepared before features are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preparation {
    splitter: Splitter,
    normalise: Normalise,
}

impl Preparation {
    pub(crate) fn new(features: Features, space: Space, normalise: Normalise) -> Self {
        Self { splitter: Splitter { features, space }, normalise }
    }

    /// Returns this preparation with other features.
    #[must_use]
    pub fn with_features(mut self, features: Features) -> Self {
        self.splitter.features = features;
        self
    }

    /// Returns this preparation with other steps for texts.
    #[must_use]
    pub fn with_normalise(mut self, normalise: Normalise) -> Self {
        self.normalise = normalise;
        self
    }

    /// Returns this preparation for ready-made tokens, which are neither normalised nor split.
    #[must_use]
    pub fn with_given_tokens(self) -> Self {
        self.with_features(Features::Given).with_normalise(Normalise::default())
    }

    /// The kind of the features.
    #[must_use]
    pub fn features(&self) -> Features {
        self.splitter.features
    }

    /// The steps for texts.
    #[must_use]
    pub fn normalise(&self) -> &Normalise {
        &self.normalise
    }

    /// The splitter for normalised texts.
    #[must_use]
    pub fn splitter(&self) -> &Splitter {
        &self.splitter
    }

    /// Calls `take` with every feature, in the order of the text.
    pub fn each(&self, document: Document<'_>, take: impl FnMut(&str)) {
        self.normalise.with(document, |document| self.splitter.each(document, take));
    }

    /// Calls `take` with the native hash of every feature, in the order of the text.
    pub fn hashes(&self, document: Document<'_>, take: impl FnMut(u64)) {
        self.normalise.with(document, |document| self.splitter.hashes(document, take));
    }

    /// Returns the distinct features of a document.
    #[must_use]
    pub fn set(&self, document: Document<'_>) -> FeatureSet {
        self.normalise.with(document, |document| FeatureSet::new(document, &self.splitter))
    }
}
