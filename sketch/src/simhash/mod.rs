//! Simhash: one fingerprint of all features of a document.
//!
//! Every feature has a hash of as many bits as the fingerprint. Each bit of the hash is a vote for or against that bit
//! of the fingerprint, with the weight of the feature; the majority decides. Two documents then differ in a share of
//! bits equal to the angle between their feature vectors divided by pi (Charikar, "Similarity estimation techniques
//! from rounding algorithms", STOC 2002).
//!
//! | preset | bits | hash of a feature | a tie | features unless told |
//! |---|---|---|---|---|
//! | `native` | 64, 128 | XXH3 | by a feature | `unicode:2` of the lower-case text, each once |
//! | `1e0ng` | 8 to 128, by 8 | the last bytes of MD5, big-endian | 0 | `chars:4` of matches of `\w` in lower case |
//! | `seomoz` | 64 | the first 8 bytes of MD5, big-endian | 0 | `words:4` |
//! | `bkdr` | 1 to 64 | BKDR with seed 31, as Java computes it | 0 | the words of `word/tag` between spaces |
//! | `string-hash` | 1 to 128 | Python 2's hash of a string, over code points | 1 | `tokens` |
//! | `string-hash-java` | 1 to 128 | the same over UTF-16 units | 1 | `tokens` of `StringTokenizer` |
//!
//! Without features there are no votes: every bit is a tie, and the fingerprint of `native` is 0.
//! [`Simhash::try_fingerprint`] rejects such documents.
//!
//! With two features half of the bits are ties, with six still a quarter. If all ties became 0, as in version 1 of
//! `native`, unrelated short texts would be near. So features decide ties (`ties.rs`).

mod bkdr;
mod e0ng;
mod preset;
mod recorded;
mod string_hash;
mod tally;
mod ties;
mod votes;

pub use preset::SimhashPreset;

use crate::document::Document;
use crate::enough::{Enough, TooFew};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::hash::{self, HashSet};
use crate::preparation::Preparation;
use crate::weights::Weights;
use tally::Tally;
use ties::Ties;
use votes::Votes;

/// Makes fingerprints.
#[derive(Clone, Debug, PartialEq)]
pub struct Simhash {
    preset: SimhashPreset,
    width: u32,
    preparation: Preparation,
    weights: Weights,
}

impl Simhash {
    /// Returns the simhash of a preset, with its default width.
    #[must_use]
    pub fn new(preset: SimhashPreset) -> Self {
        Self {
            preset,
            width: preset.default_width(),
            preparation: preset.default_preparation(),
            weights: preset.default_weights(),
        }
    }

    /// Sets the width of the fingerprint in bits.
    ///
    /// # Errors
    ///
    /// If the preset does not support the width.
    pub fn with_width(mut self, width: u32) -> Result<Self> {
        self.preset.check_width(width)?;
        self.width = width;
        Ok(self)
    }

    /// Changes how documents are prepared: `change` receives the current preparation.
    ///
    /// # Errors
    ///
    /// If the preset's features are fixed.
    pub fn prepared(mut self, change: impl FnOnce(Preparation) -> Preparation) -> Result<Self> {
        self.preparation = change(self.preparation);
        if self.preparation.features() != Features::Given {
            self.not_bkdr("features")?;
        }
        Ok(self)
    }

    /// Calls `take` with every feature of a document, as the preset defines them.
    ///
    /// # Errors
    ///
    /// If the preset is bkdr, whose weights are fixed.
    pub fn each_feature(&self, document: Document<'_>, take: impl FnMut(&str)) -> Result<()> {
        self.not_bkdr("weights")?;
        self.preparation.normalise().with(document, |document| {
            let letters =
                (self.preset == SimhashPreset::E0ng).then(|| e0ng::letters(document, self.preparation.features()));
            let document = letters.as_ref().and_then(Option::as_deref).map_or(document, Document::Text);
            self.preparation.splitter().each(document, take);
        });
        Ok(())
    }

    /// Sets the weights of features.
    ///
    /// # Errors
    ///
    /// If the preset's weights are fixed.
    pub fn with_weights(mut self, weights: Weights) -> Result<Self> {
        self.not_bkdr("weights")?;
        if let (SimhashPreset::E0ng, Weights::Table(table)) = (self.preset, &weights)
            && table.is_negative()
        {
            return Err(Error::new(
                "1e0ng takes no negative weights: the package counts them in the total but not in the bits",
            ));
        }
        self.weights = weights;
        Ok(self)
    }

    /// Width of a fingerprint in bits.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The preset.
    #[must_use]
    pub fn preset(&self) -> SimhashPreset {
        self.preset
    }

    /// How documents are prepared.
    #[must_use]
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// The weights of features.
    #[must_use]
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Returns one word that names everything that determines a fingerprint. Only fingerprints with the same word are
    /// comparable.
    #[must_use]
    pub fn identity(&self) -> String {
        let Self { preset, width, preparation, weights } = self;
        let mut identity = format!("simhash/{}/{},width={width}", preset.name(), preset.version());
        if *preset != SimhashPreset::Bkdr {
            identity += &format!(",features={},weights={}", preparation.features().canonical(), weights.identity());
        }
        format!("{identity},normalise={}", preparation.normalise())
    }

    /// Returns the fingerprint of a document in the lowest bits of the number.
    #[must_use]
    pub fn fingerprint(&self, document: Document<'_>) -> u128 {
        self.sketch(document, &mut Enough::new(0))
    }

    /// Returns the fingerprint of a document with at least `least` distinct features. Features of weight zero and empty
    /// ones do not count; for bkdr, words count.
    ///
    /// # Errors
    ///
    /// If the document has fewer features. The error holds their number.
    pub fn try_fingerprint(&self, document: Document<'_>, least: usize) -> std::result::Result<u128, TooFew> {
        let mut enough = Enough::new(least);
        let fingerprint = self.sketch(document, &mut enough);
        enough.check(fingerprint)
    }

    fn sketch(&self, document: Document<'_>, enough: &mut Enough) -> u128 {
        self.preparation.normalise().with(document, |document| self.of_normalised(document, enough))
    }

    fn of_normalised(&self, document: Document<'_>, enough: &mut Enough) -> u128 {
        let width = self.width;
        match self.preset {
            SimhashPreset::Native => self.native(document, enough),
            SimhashPreset::Bkdr => bkdr::fingerprint(document, width, enough),
            SimhashPreset::E0ng => {
                let kept = e0ng::letters(document, self.preparation.features());
                let document = kept.as_deref().map_or(document, Document::Text);
                self.of_features(document, enough, |text| e0ng::hash(text, width))
            }
            SimhashPreset::Seomoz => self.of_features(document, enough, e0ng::first_half),
            SimhashPreset::StringHash => self.of_features(document, enough, |text| string_hash::python(text, width)),
            SimhashPreset::StringHashJava => self.of_features(document, enough, |text| string_hash::java(text, width)),
        }
    }

    /// Computes the fingerprint from hashes of features alone, unless a table of weights needs their texts.
    fn native(&self, document: Document<'_>, enough: &mut Enough) -> u128 {
        let wide = |hash: u64| {
            if self.width == 64 { hash.into() } else { u128::from(hash::second(hash)) << 64 | u128::from(hash) }
        };
        let mut ties = Ties::default();
        if let Weights::Table(table) = &self.weights {
            // The table is looked up by text; the hashes are those of a simhash without a table.
            let mut weights = Vec::new();
            self.preparation.splitter().each(document, |text| weights.push(table.get(text)));
            let (mut votes, mut weights) = (Votes::new(self.width), weights.into_iter());
            self.preparation.splitter().hashes(document, |hash| {
                let weight = weights.next().unwrap_or_default();
                votes.add(wide(hash), weight);
                if weight != 0.0 {
                    enough.add(|| hash);
                    ties.add(hash);
                }
            });
            return votes.majority(|tied| ties.decide(tied));
        }
        let mut seen = self.seen(document);
        let mut tallies = [Tally::default(), Tally::default()];
        let [low, high] = &mut tallies;
        self.preparation.splitter().hashes(document, |hash| {
            enough.add(|| hash);
            if seen.as_mut().is_none_or(|seen| seen.insert(hash)) {
                ties.add(hash);
                low.add(hash);
                if self.width > 64 {
                    high.add(hash::second(hash));
                }
            }
        });
        let [low, high] = tallies;
        let low = u128::from(low.majority(|tied| hash::low(ties.decide(tied.into()))));
        let upper = |tied: u64| hash::low(ties.decide(u128::from(tied) << 64) >> 64);
        if self.width > 64 { u128::from(high.majority(upper)) << 64 | low } else { low }
    }

    /// Computes the fingerprint from any hash of a feature's text.
    fn of_features(&self, document: Document<'_>, enough: &mut Enough, hash: impl Fn(&str) -> u128) -> u128 {
        let ties = self.preset.ties();
        match &self.weights {
            Weights::Table(table) => {
                let half = self.preset == SimhashPreset::E0ng;
                let mut votes = if half { Votes::more_than_half(self.width) } else { Votes::new(self.width) };
                self.preparation.splitter().each(document, |text| {
                    let weight = table.get(text);
                    if weight != 0.0 {
                        enough.add(|| hash::of_text(text));
                    }
                    votes.add(hash(text), weight);
                });
                votes.majority(|_| ties)
            }
            Weights::Count | Weights::Distinct => {
                let mut seen = self.seen(document);
                let (mut low, mut high) = (Tally::default(), Tally::default());
                self.preparation.splitter().each(document, |text| {
                    enough.add(|| hash::of_text(text));
                    if seen.as_mut().is_none_or(|seen| seen.insert(hash::of_text(text))) {
                        let hash = hash(text);
                        low.add(hash::low(hash));
                        high.add(hash::low(hash >> 64));
                    }
                });
                let all = u128::from(high.majority(|_| hash::low(ties >> 64))) << 64
                    | u128::from(low.majority(|_| hash::low(ties)));
                all & (u128::MAX >> (128 - self.width))
            }
        }
    }

    /// Returns an empty set of features if each feature counts once.
    fn seen(&self, document: Document<'_>) -> Option<HashSet> {
        let expected = match document {
            // Words have about six bytes, and one in three is distinct.
            Document::Text(text) if !matches!(self.preparation.features(), Features::Chars(_)) => text.len() / 12,
            Document::Text(text) => text.len() / 2,
            Document::Tokens(tokens) => tokens.len(),
        };
        (self.weights == Weights::Distinct).then(|| HashSet::with_capacity_and_hasher(expected, <_>::default()))
    }

    fn not_bkdr(&self, what: &str) -> Result<()> {
        if self.preset == SimhashPreset::Bkdr {
            return Err(Error::new(format!("the {what} of bkdr are fixed: words of word/tag, by their frequency")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
