//! The block index of one table, in memory: 14 bytes a block, 1 to 4 of its directory, and 8 a page.

use super::directory::{Directory, Keyed};
use crate::bits::low_mask;
use crate::codec::{BlockKind, BlockShape, prefetch};
use crate::format::index::BlockEntry;
use crate::format::page::PageLayout;
use crate::plan::coverage::covered;

/// Where each block lies and which keys it holds.
#[derive(Debug)]
pub(crate) struct BlockIndex {
    layout: PageLayout,
    /// By how many bits stored keys are shorter than 64. Keys are looked for as if they had them, all zeros behind.
    shift: u32,
    entries: Vec<BlockKey>,
    directory: Directory,
    /// Number of keys before each page.
    ranks: Vec<u64>,
    fingerprints: u64,
    /// For every prefix length, how many blocks the keys with one prefix extend over.
    covered: [f64; 65],
}

/// What the index knows of a block, most often in one line of the cache. Packed into 14 bytes, of 16.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(2))]
struct BlockKey {
    /// The block's last key.
    key: u64,
    /// Where the block ends in its page.
    end: u16,
    /// Number of its keys.
    count: u16,
    /// The number of its kind.
    kind: u8,
}

impl Keyed for BlockKey {
    #[inline]
    fn key(&self) -> u64 {
        self.key
    }
}

/// A block's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockPlace {
    /// Its page.
    pub(crate) page: u64,
    /// Where it begins in the page.
    pub(crate) offset: usize,
    /// Its bytes.
    pub(crate) length: usize,
}

impl BlockIndex {
    /// An index without blocks.
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

    /// Appends the next block.
    pub(crate) fn push(&mut self, entry: BlockEntry) {
        let start = if self.layout.begins_page(self.entries.len()) {
            self.ranks.push(self.fingerprints);
            0
        } else {
            self.entries.last().map_or(0, |entry| entry.end)
        };
        // Parsing has made sure that a page's blocks fit it, and a page is no longer than 65,536 bytes.
        let end = start.saturating_add(entry.length);
        self.entries.push(BlockKey { key: entry.key, end, count: entry.count, kind: entry.kind.number() });
        self.fingerprints += u64::from(entry.count);
    }

    /// Blocks that the keys with one prefix of this length extend over, on average over the prefixes that block keys
    /// have.
    pub(crate) fn blocks_covered(&self, prefix: u32) -> f64 {
        self.covered.get(prefix as usize).copied().unwrap_or(0.0)
    }

    /// Number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The last key of the last block; 0 if there is none.
    pub(crate) fn last_key(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.key)
    }

    /// Number of keys in all blocks.
    pub(crate) fn fingerprints(&self) -> u64 {
        self.fingerprints
    }

    /// The first block whose last key is at least `key`; the number of blocks if there is none.
    #[inline]
    pub(crate) fn find(&self, key: u64) -> usize {
        let key = key >> self.shift;
        self.directory.lower_bound(&self.entries, self.directory.slot(key), key)
    }

    /// The first step of finding `key`, to be taken for many keys before the next one is: the slot to look in.
    #[inline]
    pub(crate) fn slot(&self, key: u64) -> usize {
        let slot = self.directory.slot(key >> self.shift);
        prefetch(self.directory.starts(), slot);
        slot
    }

    /// The second step: brings near what the third will read.
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

    /// Where a block lies.
    #[inline]
    pub(crate) fn place(&self, block: usize) -> Option<BlockPlace> {
        self.block(block).map(|(place, _)| place)
    }

    /// What a block's decoder has to know.
    #[inline]
    pub(crate) fn shape(&self, block: usize) -> Option<BlockShape> {
        self.block(block).map(|(_, shape)| shape)
    }

    /// Both.
    #[inline]
    pub(crate) fn block(&self, block: usize) -> Option<(BlockPlace, BlockShape)> {
        let entry = *self.entries.get(block)?;
        let (base, end) = match block.checked_sub(1) {
            // In ascending order, so there is a key above.
            Some(before) => self.entries.get(before).map(|before| (before.key.wrapping_add(1), before.end))?,
            None => (0, 0),
        };
        let offset = usize::from(if self.layout.begins_page(block) { 0 } else { end });
        let length = usize::from(entry.end).saturating_sub(offset);
        let place = BlockPlace { page: self.layout.page_of(block) as u64, offset, length };
        let kind = BlockKind::from_number(entry.kind)?;
        Some((place, BlockShape { kind, base, last: entry.key, count: entry.count.into() }))
    }

    /// Number of bytes that the blocks of a page fill.
    pub(crate) fn page_used(&self, page: u64) -> usize {
        let first = usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(self.layout.blocks);
        let last = first.saturating_add(self.layout.blocks).min(self.len()).checked_sub(1);
        last.and_then(|last| self.place(last)).map_or(0, |place| place.offset + place.length)
    }

    /// Number of keys before a block; behind the last one, all.
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

    /// The block that has the key of this rank, and how many keys come before it there; none if there is none.
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

    /// Bytes of the pages that the blocks fill, with a checksum each.
    pub(crate) fn data_length(&self) -> u64 {
        let Some(place) = self.len().checked_sub(1).and_then(|last| self.place(last)) else { return 0 };
        place.page * self.layout.size as u64 + (place.offset + place.length + crate::format::CHECKSUM) as u64
    }

    /// Bytes of memory.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let entries = self.entries.capacity() * size_of::<BlockKey>() + self.ranks.capacity() * 8;
        (entries + self.directory.resident_bytes()) as u64
    }

    /// To be called after the last block: measures the skew, makes the directory and gives back memory that growing has
    /// left over.
    pub(crate) fn complete(&mut self) {
        self.covered = covered(self.entries.iter().map(|entry| entry.key() << self.shift));
        self.entries.shrink_to_fit();
        self.ranks.shrink_to_fit();
        self.directory = Directory::new(&self.entries);
    }
}
