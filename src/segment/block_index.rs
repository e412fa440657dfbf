//! The block index of one table, in memory: 14 bytes a block, 1 to 4 of its directory, and 8 a page.

use super::directory::{Directory, Keyed};
use crate::bits::low_mask;
use crate::codec::{BlockKind, BlockShape, prefetch};
use crate::format::index::BlockEntry;
use crate::format::page::PageLayout;
use crate::plan::coverage::covered;

#[derive(Debug)]
pub(crate) struct BlockIndex {
    layout: PageLayout,
    /// Number of bits by which stored keys are shorter than 64. Searched keys have 64 bits, with zeros at the end.
    shift: u32,
    entries: Vec<BlockKey>,
    directory: Directory,
    ranks: Vec<u64>,
    fingerprints: u64,
    /// For every prefix length, over how many blocks the keys with one prefix extend.
    covered: [f64; 65],
}

/// A block's entry, packed into 14 bytes instead of 16; most often in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(2))]
struct BlockKey {
    key: u64,
    end: u16,
    count: u16,
    kind: u8,
}

impl Keyed for BlockKey {
    #[inline]
    fn key(&self) -> u64 {
        self.key
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockPlace {
    pub(crate) page: u64,
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

impl BlockIndex {
    pub(crate) fn new(layout: PageLayout, shift: u32) -> Self {
        Self {
            layout,
            shift,
            entries: Vec::new(),
            directory: Directory::default(),
            ranks: Vec::new(),
            fingerprints: 0,
            covered: [0.0; 65],
        }
    }

    pub(crate) fn push(&mut self, entry: BlockEntry) {
        let start = if self.layout.begins_page(self.entries.len()) {
            self.ranks.push(self.fingerprints);
            0
        } else {
            self.entries.last().map_or(0, |entry| entry.end)
        };
        // The parser checks that a page's blocks fit it; a page has at most 65,536 bytes.
        let end = start.saturating_add(entry.length);
        self.entries.push(BlockKey { key: entry.key, end, count: entry.count, kind: entry.kind.number() });
        self.fingerprints += u64::from(entry.count);
    }

    /// Blocks over which the keys with one prefix of this length extend, on average over the prefixes of block keys.
    pub(crate) fn blocks_covered(&self, prefix: u32) -> f64 {
        self.covered.get(prefix as usize).copied().unwrap_or(0.0)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn last_key(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.key)
    }

    pub(crate) fn fingerprints(&self) -> u64 {
        self.fingerprints
    }

    /// The first block whose last key is at least `key`; the number of blocks if there is none.
    #[inline]
    pub(crate) fn find(&self, key: u64) -> usize {
        let key = key >> self.shift;
        self.directory.lower_bound(&self.entries, self.directory.slot(key), key)
    }

    /// The first of three steps of finding many keys at once, each step for all keys: the slot that holds `key`.
    #[inline]
    pub(crate) fn slot(&self, key: u64) -> usize {
        let slot = self.directory.slot(key >> self.shift);
        self.directory.prefetch(slot);
        slot
    }

    /// The second step: prefetches the slot's entries.
    #[inline]
    pub(crate) fn prefetch_slot(&self, slot: usize) {
        prefetch(&self.entries, self.directory.start(slot));
    }

    /// The third step: as [`BlockIndex::find`].
    #[inline]
    pub(crate) fn find_in(&self, slot: usize, key: u64) -> usize {
        self.directory.lower_bound(&self.entries, slot, key >> self.shift)
    }

    /// The greatest 64-bit number that begins with the last key of a block.
    #[inline]
    pub(crate) fn key(&self, block: usize) -> Option<u64> {
        self.entries.get(block).map(|entry| entry.key() << self.shift | low_mask(self.shift))
    }

    #[inline]
    pub(crate) fn place(&self, block: usize) -> Option<BlockPlace> {
        self.block(block).map(|(place, _)| place)
    }

    #[inline]
    pub(crate) fn shape(&self, block: usize) -> Option<BlockShape> {
        self.block(block).map(|(_, shape)| shape)
    }

    #[inline]
    pub(crate) fn block(&self, block: usize) -> Option<(BlockPlace, BlockShape)> {
        let entry = *self.entries.get(block)?;
        let (base, end) = match block.checked_sub(1) {
            // Keys ascend, so there is a greater one.
            Some(before) => self.entries.get(before).map(|before| (before.key.wrapping_add(1), before.end))?,
            None => (0, 0),
        };
        let offset = usize::from(if self.layout.begins_page(block) { 0 } else { end });
        let length = usize::from(entry.end).saturating_sub(offset);
        let place = BlockPlace { page: self.layout.page_of(block) as u64, offset, length };
        let kind = BlockKind::from_number(entry.kind)?;
        Some((place, BlockShape { kind, base, last: entry.key, count: entry.count.into() }))
    }

    pub(crate) fn page_used(&self, page: u64) -> usize {
        let first = usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(self.layout.blocks);
        let last = first.saturating_add(self.layout.blocks).min(self.len()).checked_sub(1);
        last.and_then(|last| self.place(last)).map_or(0, |place| place.offset + place.length)
    }

    /// Number of keys before a block; after the last one, all.
    pub(crate) fn rank(&self, block: usize) -> u64 {
        if block >= self.len() {
            return self.fingerprints;
        }
        let page = self.layout.page_of(block);
        let before: u64 = self
            .entries
            .get(page * self.layout.blocks..block)
            .unwrap_or_default()
            .iter()
            .map(|entry| u64::from(entry.count))
            .sum();
        self.ranks.get(page).copied().unwrap_or(0) + before
    }

    /// Prefetches what [`BlockIndex::rank`] reads beside the entries around a block.
    #[inline]
    pub(crate) fn prefetch_rank(&self, block: usize) {
        prefetch(&self.ranks, self.layout.page_of(block));
    }

    /// The rank of a stored key in this block, if the block has as many keys as there are numbers from the key before
    /// it to its last one. So it has all of these, and need not be decoded.
    #[inline]
    pub(crate) fn rank_in_dense(&self, block: usize, key: u64) -> Option<u64> {
        let BlockShape { base, last, count, .. } = self.shape(block)?;
        let is_dense = (base..=last).contains(&key) && (last - base).checked_add(1) == Some(count as u64);
        is_dense.then(|| self.rank(block) + (key - base))
    }

    /// The block with the key of this rank, and how many keys come before it there.
    pub(crate) fn block_of_rank(&self, rank: u64) -> Option<(usize, usize)> {
        let page = self.ranks.partition_point(|&before| before <= rank).checked_sub(1)?;
        let mut left = rank.checked_sub(*self.ranks.get(page)?)?;
        let first = page * self.layout.blocks;
        for (block, entry) in (first..).zip(self.entries.get(first..)?) {
            match left.checked_sub(u64::from(entry.count)) {
                Some(less) => left = less,
                None => return Some((block, usize::try_from(left).ok()?)),
            }
        }
        None
    }

    /// Bytes of the pages that the blocks fill, with their checksums.
    pub(crate) fn data_length(&self) -> u64 {
        let Some(place) = self.len().checked_sub(1).and_then(|last| self.place(last)) else { return 0 };
        place.page * self.layout.size as u64 + (place.offset + place.length + crate::format::CHECKSUM) as u64
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        let entries = self.entries.capacity() * size_of::<BlockKey>() + self.ranks.capacity() * 8;
        (entries + self.directory.resident_bytes()) as u64
    }

    /// Finishes the index after the last block: measures the skew, makes the directory and frees spare memory.
    pub(crate) fn complete(&mut self) {
        self.covered = covered(self.entries.iter().map(|entry| entry.key() << self.shift));
        self.entries.shrink_to_fit();
        self.ranks.shrink_to_fit();
        self.directory = Directory::new(&self.entries);
    }
}
