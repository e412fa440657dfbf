//! MinHash: a signature whose equal places estimate how much two sets of features have in common.
//!
//! | preset | a place holds | hash of a feature |
//! |---|---|---|
//! | `native` | the least value of the first round that fills its bin (`native.rs`) | XXH3 |
//! | `datasketch` | the least of `a h + b` modulo 2^32 (scheme affine32) | the first 4 bytes of SHA-1, little-endian |
//! | `datasketch-legacy` | the least of `(a h + b) mod (2^61 - 1)`, its lower 32 bits | the same |
//!
//! MurmurHash3's finaliser mixes the h of `datasketch`. All presets have 32 bits a place. The signature of no features
//! has every bit set. [`Lucene`] makes terms instead.

mod bbit;
mod datasketch;
pub mod estimate;
mod lucene;
mod murmur3;
mod native;
mod place;
mod preset;
mod random;

pub use bbit::packed;
pub use lucene::{Lucene, LuceneSketch, LuceneTerm};
pub use place::EMPTY;
pub use preset::MinHashPreset;

use crate::document::Document;
use crate::enough::{Enough, TooFew};
use crate::error::{Error, Result};
use crate::features::{Features, Space};
use crate::hash;
use crate::normalise::{Normalise, Step};
use crate::preparation::Preparation;
use datasketch::Permutations;
use place::MOST;

/// Makes signatures.
#[derive(Clone, Debug)]
pub struct MinHash {
    preset: MinHashPreset,
    places: usize,
    seed: u32,
    preparation: Preparation,
    permutations: Permutations,
}

impl MinHash {
    /// Returns a MinHash of `places` places (`num_perm`); signatures of different seeds are not comparable. Features
    /// are `words:5`, and for `native` `unicode:5` of the lower-case text.
    ///
    /// # Errors
    ///
    /// If there are no places, or more than 65,536.
    pub fn new(preset: MinHashPreset, places: usize, seed: u32) -> Result<Self> {
        if !(1..=MOST).contains(&places) {
            return Err(Error::new(format!("a signature has 1 to {MOST} places, not {places}")));
        }
        let permutations = match preset {
            MinHashPreset::Native => Permutations::default(),
            MinHashPreset::Datasketch => Permutations::affine32(places, seed),
            MinHashPreset::DatasketchLegacy => Permutations::legacy(places, seed),
        };
        let native = preset == MinHashPreset::Native;
        let features = if native { Features::Unicode(5) } else { Features::Words(5) };
        let normalise = if native { Normalise::new(&[Step::Lower]) } else { Normalise::default() };
        let preparation = Preparation::new(features, Space::Unicode, normalise);
        Ok(Self { preset, places, seed, preparation, permutations })
    }

    /// How documents are prepared.
    #[must_use]
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// Changes how documents are prepared: `change` receives the current preparation.
    #[must_use]
    pub fn prepared(mut self, change: impl FnOnce(Preparation) -> Preparation) -> Self {
        self.preparation = change(self.preparation);
        self
    }

    /// Number of places of a signature.
    #[must_use]
    pub fn places(&self) -> usize {
        self.places
    }

    /// Returns one word that names everything that determines a signature. Only signatures with the same word are
    /// comparable.
    #[must_use]
    pub fn identity(&self) -> String {
        let Self { preset, places, seed, preparation, .. } = self;
        format!(
            "minhash/{preset}/{},num-perm={places},seed={seed},features={},normalise={}",
            preset.version(),
            preparation.features().canonical(),
            preparation.normalise()
        )
    }

    /// Returns the signature of a document.
    #[must_use]
    pub fn signature(&self, document: Document<'_>) -> Vec<u32> {
        self.sketch(document, &mut Enough::new(0))
    }

    /// Returns the signature of a document with at least `least` distinct features. Empty features do not count.
    ///
    /// # Errors
    ///
    /// If the document has fewer features. The error holds their number.
    pub fn try_signature(&self, document: Document<'_>, least: usize) -> std::result::Result<Vec<u32>, TooFew> {
        let mut enough = Enough::new(least);
        let signature = self.sketch(document, &mut enough);
        enough.check(signature)
    }

    fn sketch(&self, document: Document<'_>, enough: &mut Enough) -> Vec<u32> {
        match self.preset {
            MinHashPreset::Native => {
                let expected = match document {
                    Document::Text(text) => text.len() / 6,
                    Document::Tokens(tokens) => tokens.len(),
                };
                let mut hashes = Vec::with_capacity(expected);
                self.preparation.hashes(document, |hash| hashes.push(hash));
                hashes.iter().for_each(|hash| enough.add(|| *hash));
                native::signature(&hashes, self.places, self.seed)
            }
            MinHashPreset::Datasketch | MinHashPreset::DatasketchLegacy => {
                let mut signature = vec![EMPTY; self.places];
                self.preparation.each(document, |feature| {
                    enough.add(|| hash::of_text(feature));
                    self.permutations.add(datasketch::sha1_hash32(feature), &mut signature);
                });
                signature
            }
        }
    }
}

#[cfg(test)]
mod tests;
