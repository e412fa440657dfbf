//! How a document becomes features: its text is prepared, then it is cut.

use crate::document::Document;
use crate::features::{Features, Space, Splitter};
use crate::normalise::Normalise;

/// What is done to a document before anything is made of its features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preparation {
    splitter: Splitter,
    normalise: Normalise,
}

impl Preparation {
    pub(crate) fn new(features: Features, space: Space, normalise: Normalise) -> Self {
        Self { splitter: Splitter { features, space }, normalise }
    }

    /// With these features.
    #[must_use]
    pub fn with_features(mut self, features: Features) -> Self {
        self.splitter.features = features;
        self
    }

    /// With texts that are prepared like this.
    #[must_use]
    pub fn with_normalise(mut self, normalise: Normalise) -> Self {
        self.normalise = normalise;
        self
    }

    /// With ready-made tokens, which are neither prepared nor cut.
    #[must_use]
    pub fn with_given_tokens(self) -> Self {
        self.with_features(Features::Given).with_normalise(Normalise::default())
    }

    /// What the features are.
    #[must_use]
    pub fn features(&self) -> Features {
        self.splitter.features
    }

    /// What is done to a text.
    #[must_use]
    pub fn normalise(&self) -> &Normalise {
        &self.normalise
    }

    /// What cuts a text that is prepared.
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
}
