//! The presets of MinHash.

use std::fmt;
use std::str::FromStr;

use super::datatrove::Datatrove;
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
    /// The default definition of the Python package `datatrove`: XXH64, 64 bits a place.
    Datatrove,
    /// The same with XXH32 and 32 bits a place.
    Datatrove32,
    /// The same with SHA-1 and 64 bits a place.
    DatatroveSha1,
    /// The same with SHA-1 and 32 bits a place.
    DatatroveSha1Narrow,
}

impl MinHashPreset {
    /// All presets.
    pub const ALL: [Self; 7] = [
        Self::Native,
        Self::Datasketch,
        Self::DatasketchLegacy,
        Self::Datatrove,
        Self::Datatrove32,
        Self::DatatroveSha1,
        Self::DatatroveSha1Narrow,
    ];

    /// Name of the preset.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Datasketch => "datasketch",
            Self::DatasketchLegacy => "datasketch-legacy",
            Self::Datatrove => "datatrove",
            Self::Datatrove32 => "datatrove-32",
            Self::DatatroveSha1 => "datatrove-sha1",
            Self::DatatroveSha1Narrow => "datatrove-sha1-32",
        }
    }

    /// Description of the preset, in one line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Native => "fast similarity sketching (Dahlgaard, Knudsen, Thorup, 2017) over XXH3",
            Self::Datasketch => "as datasketch has it since 2.0.0 (affine32)",
            Self::DatasketchLegacy => "as datasketch had it before 2.0.0",
            Self::Datatrove => "as datatrove has it for English (xxhash, 64 bits)",
            Self::Datatrove32 => "as datatrove has it for English with precision=32",
            Self::DatatroveSha1 => "as datatrove has it for English with hash_fc=\"sha1\"",
            Self::DatatroveSha1Narrow => "as datatrove has it for English with hash_fc=\"sha1\", precision=32",
        }
    }

    /// Version of the preset: it changes whenever the signatures do.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Native => "1",
            Self::Datasketch => "2.0.0",
            Self::DatasketchLegacy => "1.6.5",
            Self::Datatrove | Self::Datatrove32 | Self::DatatroveSha1 | Self::DatatroveSha1Narrow => "0.10.1",
        }
    }

    /// The bands and the rows of a band that the system uses unless told otherwise.
    #[must_use]
    pub fn usual_bands(self) -> Option<(usize, usize)> {
        self.datatrove().map(|_| (14, 8))
    }

    /// Bits of a place, 32 or 64.
    #[must_use]
    pub fn place_bits(self) -> u32 {
        if self.datatrove().is_some_and(|datatrove| datatrove.is_wide) { u64::BITS } else { u32::BITS }
    }

    /// The variant of datatrove's definition, if it is one.
    pub(super) fn datatrove(self) -> Option<Datatrove> {
        let (is_wide, is_sha1) = match self {
            Self::Native | Self::Datasketch | Self::DatasketchLegacy => return None,
            Self::Datatrove => (true, false),
            Self::Datatrove32 => (false, false),
            Self::DatatroveSha1 => (true, true),
            Self::DatatroveSha1Narrow => (false, true),
        };
        Some(Datatrove { is_wide, is_sha1 })
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
