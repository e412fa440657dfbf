//! Finds the ranks of many keys of a table together.
//!
//! A look-up waits for memory several times: for the directory, for the block index, for the block. So each step is
//! taken for all keys before the next one, and the lines of memory, or the pages of a disk, are requested together. A
//! block with several of the keys is decoded once.

use super::block_index::IndexSlot;
use super::table::{Scratch, Table};
use crate::error::Result;

/// Keys that are worth looking up together: more do not fit the requests that a core has under way, and their blocks
/// would leave the nearest cache before they are decoded.
pub(crate) const TOGETHER: usize = 64;

/// A key that a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundKey {
    /// Its position among the keys that were searched.
    pub(crate) at: usize,
    pub(crate) rank: u64,
}

/// Looks keys up, and reuses its buffers.
#[derive(Debug, Default)]
pub(crate) struct RankSearch {
    slots: Vec<IndexSlot>,
    blocks: Vec<usize>,
    found: Vec<FoundKey>,
}

impl RankSearch {
    /// Those of the keys, which ascend, that a table of whole 64-bit keys has.
    pub(crate) fn find(&mut self, table: &Table, keys: &[u64], scratch: &mut Scratch) -> Result<&[FoundKey]> {
        let index = table.index();
        self.slots.clear();
        self.slots.extend(keys.iter().map(|&key| index.slot(key)));
        self.slots.iter().for_each(|&slot| index.prefetch_slot(slot));
        self.blocks.clear();
        for (&key, &slot) in keys.iter().zip(&self.slots) {
            let block = index.find_in(slot, key)?;
            if self.blocks.last() != Some(&block) {
                table.announce(block)?;
            }
            self.blocks.push(block);
        }
        self.found.clear();
        let mut at = 0;
        for same in self.blocks.chunk_by(|a, b| a == b) {
            let own = keys.get(at..at + same.len()).unwrap_or_default();
            if let Some(&block) = same.first().filter(|&&block| block < index.len()) {
                let (decoded, rank) = (table.block(block, scratch)?, index.rank(block)?);
                let position = |key: &u64| decoded.binary_search(key).ok();
                let found = own.iter().zip(at..).filter_map(|(key, at)| Some((at, position(key)?)));
                self.found.extend(found.map(|(at, position)| FoundKey { at, rank: rank + position as u64 }));
            }
            at += same.len();
        }
        Ok(&self.found)
    }
}
