//! The options of keys of documents for key indexes, and sketches beside the keys.

use anyhow::{anyhow, bail};
use fpsketch::{Preparation, TooFew};
use fpstore::KeyFormat;

use super::features::FeatureOptions;
use super::keys::{KeyChoice, KeyMaker};
use super::preset::PresetName;
use super::signatures::SignatureOptions;
use crate::documents::Content;

/// Heading of these options in `--help`.
const HEADING: &str = "Documents of a key index (with --text)";

/// How keys are made of documents.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BandOptions {
    /// Bands of a signature: keys of a document [default: those of --threshold; for datatrove 14, of 8 rows]
    #[arg(long, value_name = "B", requires = "rows", help_heading = HEADING)]
    pub bands: Option<usize>,

    /// Places of the signature in a band
    #[arg(long, value_name = "R", requires = "bands", help_heading = HEADING)]
    pub rows: Option<usize>,

    /// Choose the bands and rows that fit this Jaccard similarity best [default: 0.8]
    #[arg(long, value_name = "T", conflicts_with_all = ["bands", "rows"], help_heading = HEADING)]
    pub threshold: Option<f64>,

    /// For lucene: the keys of a document are its terms, each once, in place of bands
    #[arg(long, conflicts_with_all = ["bands", "rows", "threshold"], help_heading = HEADING)]
    pub terms: bool,

    /// Places of a signature [default: bands times rows, or 128]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub num_perm: Option<usize>,

    /// Seed of the hash functions [default: 1]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub seed: Option<u32>,
}

impl BandOptions {
    /// Whether any of the options was given.
    #[must_use]
    pub fn any(&self) -> bool {
        let Self { bands, rows, threshold, terms, num_perm, seed } = self;
        bands.is_some() || rows.is_some() || threshold.is_some() || *terms || num_perm.is_some() || seed.is_some()
    }

    /// Returns what makes keys, and sketches of this many bits; `given` means that documents are ready-made tokens.
    ///
    /// # Errors
    ///
    /// If the preset does not support the options, or there are not enough places for the sketch.
    pub fn maker(
        &self,
        preset: Option<&PresetName>,
        features: &FeatureOptions,
        sketch_bits: u16,
        given: bool,
    ) -> anyhow::Result<BandMaker> {
        let preset = preset.map_or_else(|| Ok("native".to_owned()), PresetName::signature)?;
        let (num_perm, seed, features) = (self.num_perm, self.seed, features.clone());
        let options = SignatureOptions { preset, num_perm, seed, features, ..SignatureOptions::default() };
        self.of_signatures(&options, sketch_bits, given)
    }

    fn of_signatures(&self, options: &SignatureOptions, sketch_bits: u16, given: bool) -> anyhow::Result<BandMaker> {
        let (bands, threshold) = (self.bands.zip(self.rows), self.threshold);
        let choice = KeyChoice { bands, threshold, terms: self.terms, fits: true, ..KeyChoice::default() };
        let keys = KeyMaker::new(options, choice, given)?;
        let places = keys.places();
        // As many samples as possible, because each adds more than another bit of one does.
        let fits = |bits: &u16| sketch_bits.is_multiple_of(*bits) && usize::from(sketch_bits / bits) <= places;
        let Some(sample_bits) = [1, 2, 4, 8, 16].into_iter().find(fits) else {
            bail!(
                "--sketch {sketch_bits}: a signature of {places} places has not so many bits; give fewer, or more places"
            );
        };
        Ok(BandMaker { keys, sketch_bits, sample_bits })
    }
}

/// Makes the keys and the sketch of a document.
pub struct BandMaker {
    keys: KeyMaker,
    sketch_bits: u16,
    sample_bits: u16,
}

impl BandMaker {
    /// Returns the maker that an index records as its hasher; `given` means that documents are ready-made tokens.
    ///
    /// # Errors
    ///
    /// If this program makes no such keys.
    pub fn recorded(identity: &str, format: KeyFormat, given: bool) -> anyhow::Result<Self> {
        let unknown =
            || anyhow!("the index was made of {identity}, which are no keys that this program makes of documents");
        let rest = identity.strip_prefix("minhash/").ok_or_else(unknown)?;
        let (preset, rest) = rest.split_once('/').ok_or_else(unknown)?;
        let mut options = SignatureOptions { preset: preset.to_owned(), ..SignatureOptions::default() };
        let mut bands = BandOptions::default();
        for parameter in rest.split(',').skip(1) {
            let (name, value) = parameter.split_once('=').ok_or_else(unknown)?;
            let number = || value.parse().map_err(|_| unknown());
            match name {
                "num-perm" => options.num_perm = Some(number()? as usize),
                "seed" => options.seed = Some(number()?),
                "hash-count" => options.hash_count = Some(number()?),
                "bucket-count" => options.bucket_count = Some(number()?),
                "hash-set-size" => options.hash_set_size = Some(number()?),
                "with-rotation" => options.with_rotation = Some(value.parse()?),
                "features" if value == "given" => {}
                "features" => options.features.features = Some(value.parse()?),
                "normalise" => options.features.normalise = Some(value.parse()?),
                "bands" => bands.bands = Some(number()? as usize),
                "rows" => bands.rows = Some(number()? as usize),
                "keys" if value == "terms" => bands.terms = true,
                _ => return Err(unknown()),
            }
        }
        let maker = bands.of_signatures(&options, format.sketch_bits(), given)?;
        if maker.identity() != identity {
            bail!("the index was made of {identity}, this program would make {}", maker.identity());
        }
        Ok(maker)
    }

    /// Names the definition of the keys, as `fphash bands` does.
    #[must_use]
    pub fn identity(&self) -> String {
        self.keys.identity()
    }

    /// Approximate bytes of the keys and the sketch of a document, at most.
    #[must_use]
    pub fn made(&self) -> u64 {
        const OTHERS: u64 = 256;
        (self.keys.most().min(1 << 20) * size_of::<u64>()) as u64 + u64::from(self.sketch_bits / 8) + OTHERS
    }

    /// Number of bands, which are the keys of a document with features; with terms as keys their greatest number.
    #[must_use]
    pub fn keys_of_document(&self) -> usize {
        self.keys.most()
    }

    /// Number of places of a signature.
    #[must_use]
    pub fn places(&self) -> usize {
        self.keys.places()
    }

    /// How documents become features.
    #[must_use]
    pub fn preparation(&self) -> &Preparation {
        self.keys.preparation()
    }

    /// The format with this maker's sketches.
    #[must_use]
    pub fn format(&self, format: KeyFormat) -> KeyFormat {
        format.with_sketch(self.sketch_bits, u8::try_from(self.sample_bits).unwrap_or(1))
    }

    /// Returns the keys and the sketch of a document with at least `least` features. One without features has neither.
    ///
    /// # Errors
    ///
    /// If the document has fewer.
    pub fn keys(&self, content: &Content, least: usize) -> Result<(Vec<u64>, Vec<u8>), TooFew> {
        let (keys, signature) = self.keys.make(content, least)?;
        let sketch = if keys.is_empty() { Vec::new() } else { self.sketch(&signature) };
        Ok((keys, sketch))
    }

    /// The lowest bits of the first places, packed from the lowest bit of the first byte on.
    fn sketch(&self, signature: &[u64]) -> Vec<u8> {
        let (all, each) = (usize::from(self.sketch_bits), usize::from(self.sample_bits));
        let mut bytes = vec![0_u8; all.div_ceil(8)];
        for (place, start) in signature.iter().zip((0..all).step_by(each)) {
            for bit in 0..each {
                let at = start + bit;
                if let Some(byte) = bytes.get_mut(at / 8) {
                    *byte |= u8::from(place >> bit & 1 == 1) << (at % 8);
                }
            }
        }
        bytes
    }
}
