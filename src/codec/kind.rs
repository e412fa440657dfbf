//! The codecs that a store may have, and the kinds of blocks.

use super::split;
use crate::fingerprint::display_and_parse_names;
use std::fmt;

/// How the fingerprints of a store are compressed; fixed when the store is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// In each block the smaller of split gaps and flips. Smallest and fastest; the default.
    #[default]
    Adaptive,
    /// The code of the WWW 2007 paper, for comparison.
    Xor,
}

impl Codec {
    /// Every codec, in the order of their numbers on disk.
    pub const ALL: [Self; 2] = [Self::Xor, Self::Adaptive];

    /// The name in the programs' arguments and output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Xor => "xor",
        }
    }
}

display_and_parse_names!(Codec, "codec", "use adaptive or xor");

/// How a block's differences are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// The paper's code.
    Xor,
    /// Split gaps.
    Gap {
        /// Number of low bits that are packed, 0 to 56.
        low_width: u32,
    },
    /// Flips or gap.
    Flips,
    /// Wide fingerprints as they are.
    Rows,
}

impl BlockKind {
    /// The number in the block index: the low width of a gap block, or a number that is no low width.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Gap { low_width } => u8::try_from(low_width).unwrap_or(0),
            Self::Rows => 61,
            Self::Flips => 62,
            Self::Xor => 63,
        }
    }

    /// The kind with this number, if there is one.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        match u32::from(number) {
            low_width @ 0..=split::MAX_LOW_WIDTH => Some(Self::Gap { low_width }),
            61 => Some(Self::Rows),
            62 => Some(Self::Flips),
            63 => Some(Self::Xor),
            _ => None,
        }
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Xor => "xor",
            Self::Gap { .. } => "gap",
            Self::Flips => "flips",
            Self::Rows => "rows",
        })
    }
}

/// A block's entry in the block index, as the decoder needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockShape {
    pub(crate) kind: BlockKind,
    /// The lowest key that the block may hold: one more than the previous block key, 0 in a table's first block.
    pub(crate) base: u64,
    pub(crate) last: u64,
    /// Number of keys, 1 or more, the last one included.
    pub(crate) count: usize,
}
