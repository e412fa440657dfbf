//! The definitions of MinHash.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A definition of MinHash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinHashPreset {
    /// Ours.
    #[default]
    Native,
    /// That of the Python package `datasketch` since 2.0.0 (affine32).
    Datasketch,
    /// That of `datasketch` before (legacy).
    DatasketchLegacy,
}

impl MinHashPreset {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Native, Self::Datasketch, Self::DatasketchLegacy];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Datasketch => "datasketch",
            Self::DatasketchLegacy => "datasketch-legacy",
        }
    }

    /// What it is, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Native => "fast similarity sketching (Dahlgaard, Knudsen, Thorup, 2017) over XXH3",
            Self::Datasketch => "as datasketch has it since 2.0.0 (affine32)",
            Self::DatasketchLegacy => "as datasketch had it before 2.0.0",
        }
    }

    /// Changes whenever its signatures do.
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
            Error::new(format!("'{text}' is no preset of MinHash; there are {names}"))
        })
    }
}
