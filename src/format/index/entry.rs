//! The blocks and the shape of a table's index.

use crate::codec::{BlockKind, Codec};
use crate::format::page::{self, PageLayout};
use crate::format::{CHECKSUM, Parameters};

/// Blocks of every chunk but the last.
pub(crate) const CHUNK: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockEntry {
    pub(crate) key: u64,
    /// Number of keys in the block, 1 to 65,535.
    pub(crate) count: u16,
    pub(crate) length: u16,
    pub(crate) kind: BlockKind,
}

/// The table of an index, as its parser needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexShape {
    pub(crate) blocks: u64,
    /// The layout of the blocks in pages.
    pub(crate) layout: PageLayout,
    pub(crate) codec: IndexCodec,
    pub(crate) table: u8,
}

impl IndexShape {
    pub(crate) fn chunks(self) -> u64 {
        self.blocks.div_ceil(CHUNK as u64)
    }
}

/// The kinds of blocks that an index describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexCodec {
    /// Blocks of keys, with distinct last keys.
    Keys(Codec),
    /// Pages of rows of this many bytes. The last rows of two pages may begin with the same 64 bits.
    Rows(usize),
}

impl IndexCodec {
    pub(crate) fn of_table(parameters: &Parameters, table: usize) -> Self {
        if table == 0 && parameters.width() > 64 {
            Self::Rows((parameters.width() / 8) as usize)
        } else {
            Self::Keys(parameters.codec())
        }
    }

    /// The codec of the codes section beside the index. Rows need no code; their section is that of a table without
    /// one.
    pub(crate) fn of_codes(self) -> Codec {
        match self {
            Self::Keys(codec) => codec,
            Self::Rows(_) => Codec::Adaptive,
        }
    }

    /// The least difference between the last keys of two consecutive blocks.
    pub(crate) fn step(self) -> u64 {
        match self {
            Self::Keys(_) => 1,
            Self::Rows(_) => 0,
        }
    }

    pub(super) fn allows(self, entry: &BlockEntry, last: bool) -> bool {
        match self {
            Self::Keys(codec) => {
                (entry.kind == BlockKind::Xor) == (codec == Codec::Xor) && entry.kind != BlockKind::Rows
            }
            Self::Rows(bytes) => {
                let (count, full) = (usize::from(entry.count), rows_per_page(bytes));
                let counted = if last { count <= full } else { count == full };
                entry.kind == BlockKind::Rows && counted && usize::from(entry.length) == count * bytes
            }
        }
    }
}

pub(crate) fn rows_per_page(bytes: usize) -> usize {
    (page::MIN_SIZE - CHECKSUM) / bytes.max(1)
}
