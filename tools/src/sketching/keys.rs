//! The keys of documents: bands of a MinHash signature, or the terms of Lucene's filter.

use anyhow::bail;
use fpsketch::bands::Bands;
use fpsketch::{EMPTY, Lucene, MinHash, Preparation, TooFew};

use super::signatures::{LUCENE, SignatureOptions, Signer};
use crate::documents::Content;

/// Default threshold.
const THRESHOLD: f64 = 0.8;
/// Default weight of false candidates against missed ones.
pub const WEIGHT: f64 = 0.5;

/// Which keys are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyChoice {
    /// Number of bands, and rows of each.
    pub bands: Option<(usize, usize)>,
    /// Similarity that bands and rows are to fit, if they are not given.
    pub threshold: Option<f64>,
    /// With a threshold: weight of false candidates against missed ones, 0 to 1.
    pub weight: Option<f64>,
    /// Terms in place of bands.
    pub terms: bool,
    /// Signatures of MinHash have no more places than given bands need, unless their number is given, too.
    pub fits: bool,
}

/// Makes the keys of documents.
pub enum KeyMaker {
    /// Bands of signatures.
    Bands(Signer, Bands),
    /// Every distinct term is a key.
    Terms(Box<Lucene>),
}

/// Rejects bands that signatures of these options have no places for. Names the options that were given.
fn check(
    options: &SignatureOptions,
    choice: KeyChoice,
    (bands, rows): (usize, usize),
    places: usize,
) -> anyhow::Result<()> {
    let needed = bands.saturating_mul(rows);
    if (1..=places).contains(&needed) {
        return Ok(());
    }
    let (option, number) = options.places();
    let chosen = choice.bands.map(|_| format!("--bands {bands} --rows {rows}"));
    let given = chosen.iter().cloned().chain(number.map(|number| format!("{option} {number}")));
    let given = given.collect::<Vec<_>>().join(" ");
    if needed == 0 {
        bail!("{given}: use at least one band of at least one row");
    }
    let of = if chosen.is_some() { String::new() } else { format!(" of --preset {}", options.preset) };
    bail!(
        "{given}: the {bands} bands of {rows} rows{of} need {needed} places, and a signature has {places}; use \
         {option} {needed}, or fewer --bands or --rows"
    )
}

impl KeyMaker {
    /// Returns the maker of these keys; `given` means that documents are ready-made tokens. Without a choice, it makes
    /// the bands that the system of the preset makes, or those that fit the default threshold best.
    ///
    /// # Errors
    ///
    /// If the preset does not support the options, or has not enough places.
    pub fn new(options: &SignatureOptions, choice: KeyChoice, given: bool) -> anyhow::Result<Self> {
        if choice.terms {
            if options.preset != LUCENE {
                bail!("--terms: only --preset {LUCENE} makes terms");
            }
            return Ok(Self::Terms(Box::new(options.lucene(given)?)));
        }
        let usual = options.usual_bands().filter(|_| choice.threshold.is_none());
        let bands = choice.bands.or(usual);
        let mut all = options.clone();
        // The system of the preset has no other places than those of its bands.
        if (usual.is_some() || choice.fits && options.preset != LUCENE)
            && options.num_perm.is_none()
            && let Some((bands, rows)) = bands.filter(|(bands, rows)| *bands > 0 && *rows > 0)
        {
            let places = bands.saturating_mul(rows);
            if places > MinHash::MOST_PLACES {
                let most = MinHash::MOST_PLACES;
                bail!("--bands {bands} --rows {rows}: a signature has at most {most} places; use fewer bands or rows");
            }
            all.num_perm = Some(places);
        }
        let signer = all.signer(given)?;
        let places = signer.places();
        let bands = match bands {
            Some((bands, rows)) => {
                check(options, choice, (bands, rows), places).and_then(|()| Ok(Bands::new(bands, rows, places)?))?
            }
            None => {
                let weight = choice.weight.unwrap_or(WEIGHT);
                Bands::optimal(choice.threshold.unwrap_or(THRESHOLD), places, weight, 1.0 - weight)?
            }
        };
        Ok(Self::Bands(signer, bands))
    }

    /// Names the definition of the keys.
    #[must_use]
    pub fn identity(&self) -> String {
        match self {
            Self::Bands(signer, bands) => format!("{},bands={},rows={}", signer.identity(), bands.bands, bands.rows),
            Self::Terms(lucene) => format!("{},keys=terms", lucene.identity()),
        }
    }

    /// How documents become features.
    #[must_use]
    pub fn preparation(&self) -> &Preparation {
        match self {
            Self::Bands(signer, _) => signer.preparation(),
            Self::Terms(lucene) => lucene.preparation(),
        }
    }

    /// Number of places of a signature.
    #[must_use]
    pub fn places(&self) -> usize {
        match self {
            Self::Bands(signer, _) => signer.places(),
            Self::Terms(lucene) => lucene.buckets(),
        }
    }

    /// Most keys of a document.
    #[must_use]
    pub fn most(&self) -> usize {
        match self {
            Self::Bands(_, bands) => bands.bands,
            Self::Terms(lucene) => lucene.most_terms(),
        }
    }

    /// Returns the keys of a document with at least `least` features, and its signature. One without features has no
    /// keys, so that it is not similar to others of its kind.
    ///
    /// # Errors
    ///
    /// If the document has fewer features.
    pub fn make(&self, content: &Content, least: usize) -> Result<(Vec<u64>, Vec<u64>), TooFew> {
        match self {
            Self::Bands(signer, bands) => {
                let signature = signer.signature(content, least)?;
                let any = signature.iter().any(|place| *place != EMPTY);
                let keys = if any { bands.keys(&signature).collect() } else { Vec::new() };
                Ok((keys, signature))
            }
            Self::Terms(lucene) => {
                let sketch = lucene.try_sketch(content.document(), least)?;
                Ok((sketch.keys(), sketch.places()))
            }
        }
    }
}
