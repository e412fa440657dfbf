//! The codecs that a store may have.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// How the fingerprints of a store are compressed; fixed when the store is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// Per block the smaller of split gaps and flips-or-gap. Smallest and fastest; the default.
    #[default]
    Adaptive,
    /// The code of the WWW 2007 paper, for comparison.
    Xor,
}

impl Codec {
    /// Every codec, in the order of their numbers on disk.
    pub const ALL: [Self; 2] = [Self::Xor, Self::Adaptive];

    /// The name that the programs use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Xor => "xor",
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Codec {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|codec| codec.name() == name)
            .ok_or_else(|| Error::invalid(format!("there is no codec '{name}'")).with_remedy("use adaptive or xor"))
    }
}
