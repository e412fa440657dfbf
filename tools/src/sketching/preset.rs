//! Names of presets, of simhash or of MinHash.

use std::str::FromStr;

use anyhow::bail;
use fpsketch::{MinHashPreset, SimhashPreset};

use super::signatures::LUCENE;

/// The name of a preset. `native` is one of simhash and of MinHash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PresetName {
    /// A preset of simhash.
    Simhash(SimhashPreset),
    /// A preset of MinHash alone.
    MinHash(String),
}

impl FromStr for PresetName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name.parse() {
            Ok(preset) => Ok(Self::Simhash(preset)),
            Err(_) if name == LUCENE || name.parse::<MinHashPreset>().is_ok() => Ok(Self::MinHash(name.to_owned())),
            Err(error) => {
                let others = MinHashPreset::ALL.map(|preset| preset.to_string()).join(", ");
                Err(format!("{error}; those of MinHash are {others}, {LUCENE}"))
            }
        }
    }
}

impl PresetName {
    /// Returns the preset of simhash.
    ///
    /// # Errors
    ///
    /// If it is one of MinHash.
    pub fn simhash(&self) -> anyhow::Result<SimhashPreset> {
        match self {
            Self::Simhash(preset) => Ok(*preset),
            Self::MinHash(name) => bail!("--preset {name}: it makes signatures, not fingerprints"),
        }
    }

    /// Returns the name of the preset of MinHash.
    ///
    /// # Errors
    ///
    /// If it is one of simhash alone.
    pub fn signature(&self) -> anyhow::Result<String> {
        match self {
            Self::Simhash(SimhashPreset::Native) => Ok(SimhashPreset::Native.to_string()),
            Self::Simhash(preset) => bail!("--preset {preset}: it makes fingerprints, not signatures"),
            Self::MinHash(name) => Ok(name.clone()),
        }
    }
}
