//! Makes signatures by the options.

use anyhow::{Context, bail};
use fpsketch::{Lucene, MinHash, MinHashPreset, Preparation, TooFew};

use super::features::FeatureOptions;
use crate::documents::Content;

/// The preset that makes terms.
pub const LUCENE: &str = "lucene";

/// Options of signatures.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SignatureOptions {
    /// Preset of MinHash: native, datasketch, datasketch-legacy, datatrove (and -32, -sha1, -sha1-32),
    /// lucene; see `fphash presets`
    #[arg(long, value_name = "NAME", default_value = "native", help_heading = "Sketch options")]
    pub preset: String,

    /// Places of a signature [default: 128; for datatrove 112, or bands times rows]
    #[arg(long, value_name = "N", help_heading = "Sketch options")]
    pub num_perm: Option<usize>,

    /// Seed of the hash functions; only signatures of the same seed are comparable [default: 1]
    #[arg(long, value_name = "N", help_heading = "Sketch options")]
    pub seed: Option<u32>,

    #[command(flatten)]
    #[allow(missing_docs, reason = "its fields say it")]
    pub features: FeatureOptions,

    /// For lucene: number of hash functions [default: 1]
    #[arg(long, value_name = "N", help_heading = "Options of lucene")]
    pub hash_count: Option<u32>,

    /// For lucene: buckets of each function [default: 512]
    #[arg(long, value_name = "N", help_heading = "Options of lucene")]
    pub bucket_count: Option<u32>,

    /// For lucene: values kept in a bucket [default: 1]
    #[arg(long, value_name = "N", help_heading = "Options of lucene")]
    pub hash_set_size: Option<u32>,

    /// For lucene: whether empty buckets get the value of the next bucket [default: true with more than one bucket]
    #[arg(long, value_name = "true|false", help_heading = "Options of lucene")]
    pub with_rotation: Option<bool>,
}

/// Makes signatures of a number of places.
pub enum Signer {
    /// MinHash.
    MinHash(Box<MinHash>),
    /// Each bucket is a place.
    Lucene(Box<Lucene>, usize),
}

impl Signer {
    /// Number of places of a signature.
    #[must_use]
    pub fn places(&self) -> usize {
        match self {
            Self::MinHash(minhash) => minhash.places(),
            Self::Lucene(_, places) => *places,
        }
    }

    /// How documents become features.
    #[must_use]
    pub fn preparation(&self) -> &Preparation {
        match self {
            Self::MinHash(minhash) => minhash.preparation(),
            Self::Lucene(lucene, _) => lucene.preparation(),
        }
    }

    /// Names the definition of the signatures.
    #[must_use]
    pub fn identity(&self) -> String {
        match self {
            Self::MinHash(minhash) => minhash.identity(),
            Self::Lucene(lucene, _) => lucene.identity(),
        }
    }

    /// Returns the signature of a document with at least `least` features.
    ///
    /// # Errors
    ///
    /// If the document has fewer.
    pub fn signature(&self, content: &Content, least: usize) -> Result<Vec<u64>, TooFew> {
        match self {
            Self::MinHash(minhash) => minhash.try_signature(content.document(), least),
            Self::Lucene(lucene, _) => lucene.try_sketch(content.document(), least).map(|sketch| sketch.places()),
        }
    }
}

impl SignatureOptions {
    /// Returns the signer; `given` means that the documents are ready-made tokens.
    ///
    /// # Errors
    ///
    /// If the preset does not support the options.
    pub fn signer(&self, given: bool) -> anyhow::Result<Signer> {
        if self.preset != LUCENE {
            return Ok(Signer::MinHash(Box::new(self.minhash(given)?)));
        }
        if self.hash_set_size.is_some_and(|size| size != 1) {
            bail!("--hash-set-size: a place of a signature is one value; leave the option out");
        }
        let places = u64::from(self.hash_count.unwrap_or(1)) * u64::from(self.bucket_count());
        let lucene = self.lucene(given)?;
        Ok(Signer::Lucene(Box::new(lucene), usize::try_from(places)?))
    }

    /// Returns the MinHash of a preset whose places are numbers.
    ///
    /// # Errors
    ///
    /// As [`SignatureOptions::signer`].
    pub fn minhash(&self, given: bool) -> anyhow::Result<MinHash> {
        let preset = self.preset.parse().context("--preset")?;
        let lucene = self.hash_count.is_some() || self.bucket_count.is_some() || self.hash_set_size.is_some();
        if lucene || self.with_rotation.is_some() {
            bail!("--hash-count, --bucket-count, --hash-set-size and --with-rotation go with --preset lucene");
        }
        let minhash =
            MinHash::new(preset, self.num_perm.unwrap_or_else(|| self.usual_places()), self.seed.unwrap_or(SEED));
        let minhash = minhash.context("--num-perm")?;
        Ok(minhash.prepared(|now| self.features.change(now, given)))
    }

    /// Returns the token filter.
    ///
    /// # Errors
    ///
    /// As [`SignatureOptions::signer`].
    pub fn lucene(&self, given: bool) -> anyhow::Result<Lucene> {
        if self.num_perm.is_some() || self.seed.is_some() {
            bail!("lucene has no --num-perm and no --seed; its options are --hash-count, --bucket-count and so on");
        }
        let buckets = self.bucket_count();
        // The default of Lucene's own factory.
        let rotation = self.with_rotation.unwrap_or(buckets > 1);
        let lucene = Lucene::new(self.hash_count.unwrap_or(1), buckets, self.hash_set_size.unwrap_or(1), rotation)?;
        Ok(lucene.prepared(|now| self.features.change(now, given)))
    }

    /// Bands that the system of the preset makes, and the rows of each.
    #[must_use]
    pub fn usual_bands(&self) -> Option<(usize, usize)> {
        self.preset.parse().ok().and_then(MinHashPreset::usual_bands)
    }

    fn usual_places(&self) -> usize {
        self.usual_bands().map_or(PLACES, |(bands, rows)| bands * rows)
    }

    /// The option that sets the number of places, and its value if it was given.
    pub(super) fn places(&self) -> (&'static str, Option<usize>) {
        match self.bucket_count {
            count if self.preset == LUCENE => ("--bucket-count", count.map(|count| count as usize)),
            _ => ("--num-perm", self.num_perm),
        }
    }

    fn bucket_count(&self) -> u32 {
        self.bucket_count.unwrap_or(512)
    }

    /// Most bytes of the sketch of a document and its line, approximately.
    #[must_use]
    pub fn made(&self) -> u64 {
        /// Bytes of a value in a tree, and of its digits.
        const VALUE: u64 = 160;
        const PLACE: u64 = 32;
        if self.preset == LUCENE {
            let buckets = u64::from(self.hash_count.unwrap_or(1)) * u64::from(self.bucket_count());
            return buckets.saturating_mul(u64::from(self.hash_set_size.unwrap_or(1).min(64))) * VALUE;
        }
        self.num_perm.unwrap_or_else(|| self.usual_places()) as u64 * PLACE
    }
}

/// Default number of places and default seed.
const PLACES: usize = 128;
const SEED: u32 = 1;
