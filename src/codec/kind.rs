//! The kinds of blocks.

use super::split;
use crate::codec::choice::Codec;
use std::fmt;

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
    /// Its number in the block index: a gap's low width, or what no low width is.
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

    /// Whether the blocks of a table with this codec may be of this kind.
    pub(crate) fn belongs_to(self, codec: Codec) -> bool {
        (self == Self::Xor) == (codec == Codec::Xor)
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

/// What the block index knows of a block without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockShape {
    /// How it is written.
    pub(crate) kind: BlockKind,
    /// The lowest key that the block may hold: one more than the previous block key, 0 in a table's first block.
    pub(crate) base: u64,
    /// The block's last key.
    pub(crate) last: u64,
    /// Number of keys, 1 or more, the last one included.
    pub(crate) count: usize,
}
