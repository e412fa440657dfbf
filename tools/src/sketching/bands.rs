//! The keys of documents, which are the bands of a MinHash signature, and their sketches.

use anyhow::{Context, anyhow, bail};
use fpsketch::bands::Bands;
use fpsketch::{EMPTY, Preparation, TooFew};
use fpstore::KeyFormat;

use super::features::FeatureOptions;
use super::preset::PresetName;
use super::signatures::{SignatureOptions, Signer};
use crate::documents::Content;

/// Heading of these options in `--help`.
const HEADING: &str = "Documents of a key index (with --text)";
/// Default threshold, and the weight of false candidates against missed ones, as of `fphash bands`.
const THRESHOLD: f64 = 0.8;
const WEIGHT: f64 = 0.5;

/// How keys are made of documents.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BandOptions {
    /// Bands of a signature: keys of a document
    #[arg(long, value_name = "B", requires = "rows", help_heading = HEADING)]
    pub bands: Option<usize>,

    /// Places of the signature in a band
    #[arg(long, value_name = "R", requires = "bands", help_heading = HEADING)]
    pub rows: Option<usize>,

    /// Choose the bands and rows that fit this Jaccard similarity best [default: 0.8]
    #[arg(long, value_name = "T", conflicts_with_all = ["bands", "rows"], help_heading = HEADING)]
    pub threshold: Option<f64>,

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
        let Self { bands, rows, threshold, num_perm, seed } = self;
        bands.is_some() || rows.is_some() || threshold.is_some() || num_perm.is_some() || seed.is_some()
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
        let product = self.bands.zip(self.rows).and_then(|(bands, rows)| bands.checked_mul(rows));
        let num_perm = if preset == super::signatures::LUCENE { self.num_perm } else { self.num_perm.or(product) };
        let (seed, features) = (self.seed, features.clone());
        let options = SignatureOptions { preset, num_perm, seed, features, ..SignatureOptions::default() };
        self.of_signatures(&options, sketch_bits, given)
    }

    fn of_signatures(&self, options: &SignatureOptions, sketch_bits: u16, given: bool) -> anyhow::Result<BandMaker> {
        let signer = options.signer(given)?;
        let places = signer.places();
        let bands = match (self.bands, self.rows) {
            (Some(bands), Some(rows)) => {
                Bands::new(bands, rows, places).with_context(|| format!("--bands {bands}, --rows {rows}"))?
            }
            _ => Bands::optimal(self.threshold.unwrap_or(THRESHOLD), places, WEIGHT, 1.0 - WEIGHT)?,
        };
        // As many samples as possible, because each adds more than another bit of one does.
        let fits = |bits: &u16| sketch_bits.is_multiple_of(*bits) && usize::from(sketch_bits / bits) <= places;
        let Some(sample_bits) = [1, 2, 4, 8, 16].into_iter().find(fits) else {
            bail!(
                "--sketch {sketch_bits}: a signature of {places} places has not so many bits; give fewer, or more places"
            );
        };
        Ok(BandMaker { signer, bands, sketch_bits, sample_bits })
    }
}

/// Makes the keys and the sketch of a document.
pub struct BandMaker {
    signer: Signer,
    bands: Bands,
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
        format!("{},bands={},rows={}", self.signer.identity(), self.bands.bands, self.bands.rows)
    }

    /// Number of keys of a document with features.
    #[must_use]
    pub fn keys_of_document(&self) -> usize {
        self.bands.bands
    }

    /// Number of places of a signature.
    #[must_use]
    pub fn places(&self) -> usize {
        self.signer.places()
    }

    /// How documents become features.
    #[must_use]
    pub fn preparation(&self) -> &Preparation {
        self.signer.preparation()
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
        let signature = self.signer.signature(content, least)?;
        if signature.iter().all(|place| *place == EMPTY) {
            return Ok((Vec::new(), Vec::new()));
        }
        Ok((self.bands.keys(&signature).collect(), self.sketch(&signature)))
    }

    /// The lowest bits of the first places, packed from the lowest bit of the first byte on.
    fn sketch(&self, signature: &[u32]) -> Vec<u8> {
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
