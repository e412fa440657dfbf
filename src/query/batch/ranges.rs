//! A table cut into ranges of keys that share their leading bits.

use crate::error::Result;
use crate::query::batch::marks::MOST_BITS;
use crate::segment::BlockIndex;
use std::ops::Range;

/// Keys of a range, about.
const KEYS: usize = 1 << (MOST_BITS - SPARSE);

/// Bits of a mark's place beyond those that number the keys of a range: few of the prefixes exist.
const SPARSE: u32 = 5;

/// A run of blocks, and the leading bits of the keys to find in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRange {
    /// The least key.
    pub(crate) first: u64,
    /// Number of leading bits that all keys share.
    pub(crate) common: u32,
    /// Length of the prefixes that queries ask for: these bits and up to [`MOST_BITS`] more.
    pub(crate) prefix: u32,
    /// The blocks that may hold these keys; the first and the last one may also hold others.
    pub(crate) blocks: Range<usize>,
}

/// All ranges of a table in ascending order. Prefixes are no longer than `longest`.
pub(crate) fn cut(index: &BlockIndex, longest: u32) -> Result<Vec<KeyRange>> {
    let keys_per_block =
        usize::try_from(index.fingerprints()).unwrap_or(usize::MAX).div_ceil(index.len().max(1)).max(1);
    let mut ranges = Vec::new();
    let cutter = Cutter { index, longest, keys_per_block, most: (KEYS / keys_per_block).max(1) };
    cutter.cut(0, 0, 0..index.len(), &mut ranges)?;
    Ok(ranges)
}

struct Cutter<'a> {
    index: &'a BlockIndex,
    longest: u32,
    keys_per_block: usize,
    /// Maximum number of blocks of a range.
    most: usize,
}

impl Cutter<'_> {
    fn cut(&self, first: u64, common: u32, blocks: Range<usize>, ranges: &mut Vec<KeyRange>) -> Result<()> {
        if blocks.len() > self.most && common < self.longest {
            let middle = first | 1 << (63 - common);
            // This block ends in the upper half and may begin in the lower one.
            let at = self.index.find(middle)?;
            self.cut(first, common + 1, blocks.start..(at + 1).min(blocks.end), ranges)?;
            return self.cut(middle, common + 1, at.max(blocks.start)..blocks.end, ranges);
        }
        // Many blocks of keys that share all bits make several ranges, for several threads.
        let runs = blocks.clone().step_by(self.most).map(|start| start..(start + self.most).min(blocks.end));
        ranges.extend(runs.map(|blocks| {
            let keys = blocks.len() * self.keys_per_block;
            let bits = (keys.max(1).ilog2() + 1 + SPARSE).min(MOST_BITS);
            KeyRange { first, common, prefix: (common + bits).min(self.longest), blocks }
        }));
        Ok(())
    }
}
