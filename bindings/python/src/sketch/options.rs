//! Keyword arguments as the options that `fphash` has by the same names.

use anyhow::Context;
use clap::Parser;
use fpstore_tools::sketching::{BandMaker, BandOptions, FeatureOptions, PresetName, SignatureOptions, SimhashOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::errors::invalid;
use crate::refused::{refused, shown};
use crate::wording;

/// Options of `fphash simhash`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(super) struct Simhash {
    #[command(flatten)]
    pub(super) options: SimhashOptions,
    /// Bits of a fingerprint.
    #[arg(long)]
    pub(super) width: Option<u32>,
    /// Documents with fewer features get no fingerprint.
    #[arg(long, default_value_t = 1)]
    pub(super) min_features: usize,
}

/// Options of `fphash minhash`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(super) struct Signature {
    #[command(flatten)]
    pub(super) options: SignatureOptions,
    /// Documents with fewer features get no signature.
    #[arg(long, default_value_t = 1)]
    pub(super) min_features: usize,
}

/// Options of `fpload --text --bands`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(super) struct Bands {
    #[command(flatten)]
    pub(super) options: BandOptions,
    #[command(flatten)]
    pub(super) features: FeatureOptions,
    /// Preset of MinHash.
    #[arg(long)]
    pub(super) preset: Option<PresetName>,
    /// Bits of a sketch, or "full": eight of every place of the signature.
    #[arg(long, default_value = "0")]
    sketch: String,
    /// Documents with fewer features get no keys.
    #[arg(long, default_value_t = 1)]
    pub(super) min_features: usize,
}

impl Bands {
    /// What makes keys and sketches, and the bits of a sketch; `given` means that documents are ready-made tokens.
    pub(super) fn maker(&self, given: bool) -> anyhow::Result<(BandMaker, u16)> {
        /// As many bits of a place and as many in all as `fpdedup documents` takes.
        const SAMPLE: usize = 8;
        const MOST: usize = 8192;
        let make = |bits| self.options.maker(self.preset.as_ref(), &self.features, bits, given);
        let bits = match self.sketch.as_str() {
            "full" => u16::try_from((make(0)?.places() * SAMPLE).min(MOST))?,
            bits => bits.parse().with_context(|| format!("sketch={bits}: expected a number of bits, or full"))?,
        };
        Ok((make(bits)?, bits))
    }
}

/// Options that are named without a value.
const FLAGS: &[&str] = &["terms"];

/// Parses keyword arguments: `num_perm=128` is `--num-perm=128`.
pub(super) fn parse<T: Parser>(given: Option<&Bound<'_, PyDict>>) -> PyResult<T> {
    let mut options = Vec::new();
    for (name, value) in given.iter().flat_map(|given| given.iter()) {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        if !value.is_instance_of::<PyString>() && value.len().is_ok() {
            return Err(refused(&name, &value, "a str, a number or a path"));
        }
        let option = name.replace('_', "-");
        match value.cast::<PyBool>() {
            Ok(flag) if FLAGS.contains(&name.as_str()) => {
                if flag.is_true() {
                    options.push(format!("--{option}"));
                }
            }
            Ok(flag) => options.push(format!("--{option}={}", flag.is_true())),
            Err(_) => options.push(format!("--{option}={}", value.str()?)),
        }
    }
    T::try_parse_from(options).map_err(|error| invalid(wording::of_parser(&error.to_string())))
}

/// Refuses an option with another value than this one, which is the only one that a function has.
pub(super) fn only(given: Option<&Bound<'_, PyDict>>, name: &str, value: &str) -> PyResult<()> {
    let other = given.map(|given| given.get_item(name)).transpose()?.flatten().filter(|other| !other.is_none());
    match other {
        Some(other) if other.str()?.to_cow()? != value => {
            Err(invalid(format!("{name}={}: it is always {value:?} here; leave it out", shown(&other))))
        }
        _ => Ok(()),
    }
}
