//! The presets of MinHash.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A definition of MinHash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinHashPreset {
    /// This crate's own definition.
    #[default]
    Native,
    /// The definition of the Python package `datasketch` since 2.0.0 (affine32).
    Datasketch,
    /// The definition of `datasketch` before 2.0.0 (legacy).
    DatasketchLegacy,
}

impl MinHashPreset {
    /// All presets.
    pub const ALL: [Self; 3] = [Self::Native, Self::Datasketch, Self::DatasketchLegacy];

    /// Name of the preset.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Datasketch => "datasketch",
            Self::DatasketchLegacy => "datasketch-legacy",
        }
    }

    /// Description of the preset, in one line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Native => "fast similarity sketching (Dahlgaard, Knudsen, Thorup, 2017) over XXH3",
            Self::Datasketch => "as datasketch has it since 2.0.0 (affine32)",
            Self::DatasketchLegacy => "as datasketch had it before 2.0.0",
        }
    }

    /// Version of the preset: it changes whenever the signatures do.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Native => "1",
            Self::Datasketch => "2.0.0",
            Self::DatasketchLegacy => "1.6.5",
        }
    }
}

impl fmt::Display for MinHashPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for MinHashPreset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|preset| preset.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::new(format!("'{text}' is not a preset of MinHash; the presets are {names}"))
        })
    }
}
