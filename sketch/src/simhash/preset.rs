//! The presets of simhash, and the properties of each.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::features::{Features, Space};
use crate::normalise::{Normalise, Step};
use crate::preparation::Preparation;
use crate::weights::Weights;

/// A definition of simhash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SimhashPreset {
    /// This crate's own definition.
    #[default]
    Native,
    /// The definition of the Python package `simhash`, by 1e0ng.
    E0ng,
    /// The definition of `simhash-cpp` and `simhash-py`, by seomoz.
    Seomoz,
    /// Word frequencies and the BKDR hash, in Java.
    Bkdr,
    /// The Python class of a widely copied article.
    StringHash,
    /// The Java class of the same article.
    StringHashJava,
}

impl SimhashPreset {
    /// All presets.
    pub const ALL: [Self; 6] =
        [Self::Native, Self::E0ng, Self::Seomoz, Self::Bkdr, Self::StringHash, Self::StringHashJava];

    /// Name of the preset.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::E0ng => "1e0ng",
            Self::Seomoz => "seomoz",
            Self::Bkdr => "bkdr",
            Self::StringHash => "string-hash",
            Self::StringHashJava => "string-hash-java",
        }
    }

    /// Description of the preset, in one line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Native => {
                "two words in a row, each pair once; XXH3; fast, and the best of these at the same precision"
            }
            Self::E0ng => "as the Python package simhash has it: four characters in a row, MD5",
            Self::Seomoz => "as simhash-cpp and simhash-py have it: four tokens in a row, MD5",
            Self::Bkdr => "words of word/tag by their frequency, BKDR hash as Java computes it",
            Self::StringHash => "tokens, Python 2's hash of a string; a tie is a one",
            Self::StringHashJava => "the same over UTF-16 units, tokens of StringTokenizer",
        }
    }

    /// Version of the preset: it changes whenever the fingerprints do.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Native => "2",
            Self::Bkdr | Self::StringHash | Self::StringHashJava => "1",
            Self::E0ng => "2.1.2",
            Self::Seomoz => "0.4.0",
        }
    }

    /// The bits of ties, unless features decide them.
    pub(super) fn ties(self) -> u128 {
        if matches!(self, Self::StringHash | Self::StringHashJava) { u128::MAX } else { 0 }
    }

    pub(super) fn default_width(self) -> u32 {
        64
    }

    fn default_features(self) -> Features {
        match self {
            Self::Native => Features::Unicode(2),
            Self::E0ng => Features::Chars(4),
            Self::Seomoz => Features::Words(4),
            // Its features are its own; no other preset has them.
            Self::Bkdr => Features::Given,
            Self::StringHash | Self::StringHashJava => Features::Tokens,
        }
    }

    pub(super) fn default_weights(self) -> Weights {
        if self == Self::Native { Weights::Distinct } else { Weights::Count }
    }

    pub(super) fn default_preparation(self) -> Preparation {
        let normalise = if self == Self::Native { Normalise::new(&[Step::Lower]) } else { Normalise::default() };
        let space = if self == Self::StringHashJava { Space::StringTokenizer } else { Space::Unicode };
        Preparation::new(self.default_features(), space, normalise)
    }

    pub(super) fn check_width(self, width: u32) -> Result<()> {
        let (possible, said) = match self {
            Self::Native => (width == 64 || width == 128, "64 and 128"),
            Self::E0ng => ((8..=128).contains(&width) && width.is_multiple_of(8), "8, 16, 24 and so on up to 128"),
            Self::Seomoz => (width == 64, "64"),
            Self::Bkdr => ((1..=64).contains(&width), "1 to 64"),
            Self::StringHash | Self::StringHashJava => ((1..=128).contains(&width), "1 to 128"),
        };
        if possible {
            return Ok(());
        }
        Err(Error::new(format!("{self} makes no fingerprints of {width} bits; possible are {said}")))
    }
}

impl fmt::Display for SimhashPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SimhashPreset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|preset| preset.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::new(format!("'{text}' is not a preset of simhash; the presets are {names}"))
        })
    }
}
