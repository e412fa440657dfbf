//! The hashes that place keys and virtual nodes on the circle.
//!
//! Each one maps bytes to a position; `format-spec/ring.md` has the rules and reference values.

mod murmur3;

use crate::error::{Error, ErrorKind, Result};
use md5::{Digest, Md5};
use std::fmt;
use std::str::FromStr;
use xxhash_rust::xxh64::xxh64;

/// A hash, and with it the circle: positions are numbers of its width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// XXH64 with seed 0: the default. The circle has 2^64 positions.
    #[default]
    Xxh64,
    /// MurmurHash3 for x86 with 32 bits and seed 0. The circle has 2^32 positions.
    Murmur3,
    /// The first four bytes of the MD5 digest, least significant byte first, as ketama hashes keys. The circle has 2^32
    /// positions.
    Md5,
}

impl Hash {
    /// Every hash, the default first.
    pub const ALL: [Self; 3] = [Self::Xxh64, Self::Murmur3, Self::Md5];

    /// The name in ring files and arguments.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Xxh64 => "xxh64",
            Self::Murmur3 => "murmur3-32",
            Self::Md5 => "md5-32",
        }
    }

    /// Bits of a position.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Xxh64 => 64,
            Self::Murmur3 | Self::Md5 => 32,
        }
    }

    /// Number of positions on the circle.
    #[must_use]
    pub fn circle(self) -> u128 {
        1 << self.bits()
    }

    /// The position of some bytes, below [`Hash::circle`].
    #[must_use]
    pub fn position(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Xxh64 => xxh64(bytes, 0),
            Self::Murmur3 => murmur3::murmur3_32(bytes, 0).into(),
            Self::Md5 => {
                let digest: [u8; 16] = Md5::digest(bytes).into();
                let [a, b, c, d, ..] = digest;
                u32::from_le_bytes([a, b, c, d]).into()
            }
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Hash {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|hash| hash.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::new(ErrorKind::Unsupported, format!("there is no hash '{}'; use {names}", name.escape_debug()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of format-spec/ring.md.
    #[test]
    fn reference_values() {
        let table: [(&str, [u64; 3]); 5] = [
            ("", [0xef46_db37_51d8_e999, 0, 0xd98c_1dd4]),
            ("17", [0x3ea9_0da1_9323_1260, 0x6e6f_0b04, 0x2edf_ef70]),
            ("a#1", [0xa750_dcc3_2946_29b3, 0x06f6_7733, 0x7e07_5354]),
            ("node-1#1024", [0x53b0_a93f_2a6a_f496, 0x23c3_f2a2, 0x561b_01a8]),
            ("http://example.org/", [0x5ca3_af77_9db3_b833, 0xe5e3_a316, 0xdc2c_d9d0]),
        ];
        for (text, values) in table {
            let found = Hash::ALL.map(|hash| hash.position(text.as_bytes()));
            assert_eq!(found, values, "{text}: {found:#x?}");
        }
    }

    #[test]
    fn names_are_parsed() {
        for hash in Hash::ALL {
            assert_eq!(hash.name().parse::<Hash>().unwrap(), hash);
            assert_eq!(hash.circle(), 1 << hash.bits());
        }
        let error = "sha1".parse::<Hash>().unwrap_err();
        assert_eq!(error.to_string(), "there is no hash 'sha1'; use xxh64, murmur3-32, md5-32");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
