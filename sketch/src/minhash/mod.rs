//! MinHash: a signature whose equal places estimate how much two sets of features have in common.
//!
//! | preset | a place holds | hash of a feature |
//! |---|---|---|
//! | `native` | the least value of the first round that fills its bin (`native.rs`) | XXH3 |
//! | `datasketch` | the least of `a h + b` modulo 2^32 (scheme affine32) | the first 4 bytes of SHA-1, little-endian |
//! | `datasketch-legacy` | the least of `(a h + b) mod (2^61 - 1)`, its lower 32 bits | the same |
//! | `datatrove` | the least of `(a h + b) mod (2^61 - 1)` | XXH64 |
//! | `datatrove-32` | the least of the lower 32 bits of these | XXH32 |
//! | `datatrove-sha1`, `datatrove-sha1-32` | as `datatrove` and `datatrove-32` | the first 8 or 4 bytes of SHA-1, little-endian |
//!
//! MurmurHash3's finaliser mixes the h of `datasketch`. Places have 32 bits, those of `datatrove` and `datatrove-sha1`
//! 64 (the values have 61). In the signature of no features, every place is [`EMPTY`]. [`Lucene`] makes terms instead.
//!
//! datatrove draws its parameters for all places together: signatures of 14 x 8 and of 26 x 11 places have none in
//! common. Its words are those of English ([`Features::Datatrove`]), whose shingles are hashed; for other languages
//! datatrove uses other tokenizers, and a caller can give their shingles as tokens.

mod affine61;
mod bbit;
mod datasketch;
mod datatrove;
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

/// Makes signatures.
#[derive(Clone, Debug)]
pub struct MinHash {
    preset: MinHashPreset,
    places: usize,
    seed: u32,
    preparation: Preparation,
    scheme: Scheme,
}

/// How hashes become places.
#[derive(Clone, Debug)]
enum Scheme {
    Native,
    Datasketch(datasketch::Permutations),
    Datatrove(datatrove::Permutations),
}

impl MinHash {
    /// Most places of a signature.
    pub const MOST_PLACES: usize = 1 << 16;

    /// Returns a MinHash of `places` places (`num_perm`); signatures of different seeds are not comparable. Features
    /// are `words:5`, for `native` `unicode:5` of the lower-case text, and for the presets of datatrove `datatrove:5`.
    ///
    /// # Errors
    ///
    /// If there are no places, or more than 65,536.
    pub fn new(preset: MinHashPreset, places: usize, seed: u32) -> Result<Self> {
        if !(1..=Self::MOST_PLACES).contains(&places) {
            let most = Self::MOST_PLACES;
            return Err(Error::new(format!("a signature has 1 to {most} places, not {places}")));
        }
        let scheme = match (preset, preset.datatrove()) {
            (_, Some(kind)) => Scheme::Datatrove(datatrove::Permutations::new(kind, places, seed)),
            (MinHashPreset::Datasketch, _) => Scheme::Datasketch(datasketch::Permutations::affine32(places, seed)),
            (MinHashPreset::DatasketchLegacy, _) => Scheme::Datasketch(datasketch::Permutations::legacy(places, seed)),
            _ => Scheme::Native,
        };
        let (features, steps): (_, &[Step]) = match scheme {
            Scheme::Native => (Features::Unicode(5), &[Step::Lower]),
            Scheme::Datasketch(_) => (Features::Words(5), &[]),
            Scheme::Datatrove(_) => (Features::Datatrove(5), &[]),
        };
        let normalise = Normalise::new(steps);
        let preparation = Preparation::new(features, Space::Unicode, normalise);
        Ok(Self { preset, places, seed, preparation, scheme })
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

    /// Bits of a place, 32 or 64.
    #[must_use]
    pub fn place_bits(&self) -> u32 {
        self.preset.place_bits()
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
    pub fn signature(&self, document: Document<'_>) -> Vec<u64> {
        self.sketch(document, &mut Enough::new(0))
    }

    /// Returns the signature of a document with at least `least` distinct features. Empty features do not count.
    ///
    /// # Errors
    ///
    /// If the document has fewer features. The error holds their number.
    pub fn try_signature(&self, document: Document<'_>, least: usize) -> std::result::Result<Vec<u64>, TooFew> {
        let mut enough = Enough::new(least);
        let signature = self.sketch(document, &mut enough);
        enough.check(signature)
    }

    fn sketch(&self, document: Document<'_>, enough: &mut Enough) -> Vec<u64> {
        // Enough for the shingles of most texts.
        let expected = match document {
            Document::Text(text) => text.len() / 5,
            Document::Tokens(tokens) => tokens.len(),
        };
        let mut hashes = Vec::with_capacity(expected);
        let mut each = |hash: &dyn Fn(&str) -> u64| {
            self.preparation.each(document, |feature| {
                enough.add(|| hash::of_text(feature));
                hashes.push(hash(feature));
            });
        };
        match &self.scheme {
            Scheme::Native => {
                self.preparation.hashes(document, |hash| hashes.push(hash));
                hashes.iter().for_each(|hash| enough.add(|| *hash));
                native::signature(&hashes, self.places, self.seed).into_iter().map(u64::from).collect()
            }
            Scheme::Datasketch(permutations) => {
                each(&datasketch::sha1_hash32);
                permutations.signature(&hashes)
            }
            Scheme::Datatrove(permutations) => {
                each(&|feature| permutations.hash(feature));
                permutations.signature(&hashes)
            }
        }
    }
}

#[cfg(test)]
mod tests;
