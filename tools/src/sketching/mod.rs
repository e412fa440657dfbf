//! Options that determine how fingerprints of documents are made, for `fphash simhash` and `fpload --text`.

mod bands;
mod compare;
mod features;
mod fingerprint;
mod keys;
mod preset;
mod signatures;
mod table;

pub use bands::{BandMaker, BandOptions};
pub use compare::{Compared, Method, Side};
pub use features::FeatureOptions;
pub use fingerprint::fingerprint;
pub use keys::{KeyChoice, KeyMaker, WEIGHT};
pub use preset::PresetName;
pub use signatures::{LUCENE, SignatureOptions, Signer};

use std::path::PathBuf;

use anyhow::{Context, bail};
use fpsketch::{Features, Simhash, SimhashPreset, Weights};
use fpstore::Fingerprint;

use crate::documents::{Content, DocumentId};
use crate::number::push_json_text;

/// Options of a simhash.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SimhashOptions {
    /// Definition of simhash: native, 1e0ng, seomoz, bkdr, string-hash, string-hash-java; see `fphash presets`
    /// [default: native]
    #[arg(long, value_name = "NAME", help_heading = "Sketch options")]
    pub preset: Option<PresetName>,

    /// Weight of a feature: count (one for each occurrence), distinct (one), or a file with a line `feature<TAB>weight`
    /// for each feature [default: the preset's]
    #[arg(long, value_name = "count|distinct|FILE", help_heading = "Sketch options")]
    pub weights: Option<PathBuf>,

    /// File of features that do not count, one on each line
    #[arg(long, value_name = "FILE", help_heading = "Sketch options")]
    pub stop_words: Option<PathBuf>,

    /// Make the fingerprints that a store records: its preset, width and features. Other options must agree with it. A
    /// store keeps only the checksum of a table of weights; --weights and --stop-words name the files again
    #[arg(long, value_name = "STORE", help_heading = "Sketch options")]
    pub like: Option<PathBuf>,

    #[command(flatten)]
    #[allow(missing_docs, reason = "its fields say it")]
    pub features: FeatureOptions,
}

impl SimhashOptions {
    /// Whether any of the options was given.
    #[must_use]
    pub fn any(&self) -> bool {
        let Self { preset, weights, stop_words, like, features } = self;
        let FeatureOptions { features, normalise } = features;
        preset.is_some()
            || like.is_some()
            || weights.is_some()
            || stop_words.is_some()
            || features.is_some()
            || normalise.is_some()
    }

    /// Returns the simhash that the options describe, of this width; `given` means that the documents are ready-made
    /// tokens.
    ///
    /// # Errors
    ///
    /// If the preset does not support the options, a table cannot be read, or the options contradict the store of
    /// `--like`.
    pub fn simhash(&self, width: Option<u32>, given: bool) -> anyhow::Result<Simhash> {
        let Some(store) = &self.like else {
            return self.changed(Simhash::new(self.named()?.unwrap_or_default()), width, given);
        };
        let option = || format!("--like {}", store.display());
        let parameters = fpstore::parameters_of(store, &crate::threads::options()).with_context(option)?;
        let Some(recorded) = parameters.hasher() else { bail!("{}: {UNKNOWN}", option()) };
        self.simhash_as(recorded, width, given).with_context(option)
    }

    /// Returns the simhash that a store records, if the options agree with it.
    ///
    /// # Errors
    ///
    /// If they do not, or this program does not make such fingerprints.
    pub fn simhash_as(&self, recorded: &str, width: Option<u32>, given: bool) -> anyhow::Result<Simhash> {
        let (simhash, has_table) = Simhash::from_identity(recorded)?;
        let simhash = match self.named()? {
            Some(preset) if preset != simhash.preset() => Simhash::new(preset),
            _ => simhash,
        };
        let simhash = self.changed(simhash, width, given)?;
        if has_table && self.weights.is_none() && self.stop_words.is_none() {
            bail!(
                "the store's fingerprints were made by {recorded}, with weights of a file; name it with --weights, or \
                 --stop-words"
            );
        }
        let is_given = simhash.preparation().features() == Features::Given && simhash.preset() != SimhashPreset::Bkdr;
        if is_given && !given {
            bail!("the store's fingerprints were made of ready-made tokens; name their column with --tokens-column");
        }
        let identity = simhash.identity();
        if identity != recorded {
            bail!(
                "the store's fingerprints were made by {recorded}, these by {identity}; they must not be mixed: leave \
                 the \
                 options that differ out, or if none does, create the store again from its documents"
            );
        }
        Ok(simhash)
    }

    /// The preset of the option.
    fn named(&self) -> anyhow::Result<Option<SimhashPreset>> {
        self.preset.as_ref().map(PresetName::simhash).transpose()
    }

    /// Returns the simhash with all options applied.
    fn changed(&self, mut simhash: Simhash, width: Option<u32>, given: bool) -> anyhow::Result<Simhash> {
        if let Some(width) = width {
            simhash = simhash.with_width(width).context("--width")?;
        }
        simhash = simhash.prepared(|now| self.features.change(now, given)).context("--features")?;
        if let Some(weights) = self.weights(&simhash)? {
            simhash = simhash.with_weights(weights).context("--weights")?;
        }
        Ok(simhash)
    }

    fn weights(&self, simhash: &Simhash) -> anyhow::Result<Option<Weights>> {
        let told = match self.weights.as_deref() {
            None => None,
            Some(name) if name.as_os_str() == "count" => Some(Weights::Count),
            Some(name) if name.as_os_str() == "distinct" => Some(Weights::Distinct),
            Some(path) => Some(Weights::Table(table::read(path).context("--weights")?.into())),
        };
        let Some(path) = &self.stop_words else { return Ok(told) };
        let features = simhash.preparation().features();
        if features.length() > 1 {
            bail!(
                "--stop-words are whole features, and one of {features} is longer; say --features tokens or unicode:1"
            );
        }
        let mut table = match told.unwrap_or_else(|| simhash.weights().clone()) {
            Weights::Count => fpsketch::Table::new(1.0),
            Weights::Table(table) => table.as_ref().clone(),
            Weights::Distinct => {
                bail!("--stop-words needs features that count each time they occur; add --weights count")
            }
        };
        table::stop(&mut table, path).context("--stop-words")?;
        Ok(Some(Weights::Table(table.into())))
    }
}

/// Message about a store that does not record its hasher.
pub const UNKNOWN: &str = "the store does not record what made its fingerprints; name the preset and the other sketch \
                           options that did, without --like";

/// Converts the lowest bits of a number to a fingerprint.
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "word by word")]
pub fn words<F: Fingerprint>(bits: u128) -> F {
    F::from_words(|word| {
        let below = F::WORDS - 1 - word;
        if below < 2 { (bits >> (64 * below)) as u64 } else { 0 }
    })
}

impl Content {
    /// Borrows the content as the input of a sketch.
    #[must_use]
    pub fn document(&self) -> fpsketch::Document<'_> {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Tokens(tokens) => tokens.as_slice().into(),
        }
    }
}

impl DocumentId {
    /// Appends a TAB and the id, if there is one.
    pub fn push_column(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Number(number) => out.extend_from_slice(format!("\t{number}").as_bytes()),
            Self::Text(text) => {
                out.push(b'\t');
                out.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// Appends the id as a JSON value.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => out.extend_from_slice(b"null"),
            Self::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::Text(text) => push_json_text(out, text),
        }
    }
}
