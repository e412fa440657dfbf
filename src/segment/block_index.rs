//! The block index of one table, in memory: 14 bytes a block and 8 a page.

use super::locate;
use crate::codec::BlockShape;
use crate::format::index::BlockEntry;
use crate::format::page::PageLayout;

/// Where each block lies and which keys it holds.
#[derive(Debug)]
pub(crate) struct BlockIndex {
    layout: PageLayout,
    /// Each block's last key.
    keys: Vec<u64>,
    counts: Vec<u16>,
    lengths: Vec<u16>,
    /// Where each block begins in its page.
    offsets: Vec<u16>,
    /// Number of keys before each page.
    ranks: Vec<u64>,
    fingerprints: u64,
    /// How many neighbours among the block keys have just so many leading bits in common.
    common: [u32; 64],
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
    pub(crate) fn new(layout: PageLayout) -> Self {
        Self {
            layout,
            keys: Vec::new(),
            counts: Vec::new(),
            lengths: Vec::new(),
            offsets: Vec::new(),
            ranks: Vec::new(),
            fingerprints: 0,
            common: [0; 64],
        }
    }

    /// Appends the next block.
    pub(crate) fn push(&mut self, entry: BlockEntry) {
        let offset = if self.keys.len().is_multiple_of(self.layout.blocks) {
            self.ranks.push(self.fingerprints);
            0
        } else {
            let last = |column: &Vec<u16>| column.last().copied().unwrap_or(0);
            // Parsing has made sure that a page's blocks fit it, and a page is no longer than 65,536 bytes.
            last(&self.offsets).saturating_add(last(&self.lengths))
        };
        let common = self.keys.last().map(|last| (last ^ entry.key).leading_zeros() as usize);
        if let Some(neighbours) = common.and_then(|common| self.common.get_mut(common)) {
            *neighbours = neighbours.saturating_add(1);
        }
        self.keys.push(entry.key);
        self.counts.push(entry.count);
        self.lengths.push(entry.length);
        self.offsets.push(offset);
        self.fingerprints += u64::from(entry.count);
    }

    /// Blocks beyond the first that the keys with one prefix of this length extend over, on average over the prefixes
    /// that block keys have: these are a sample of the data, and so of its skew.
    pub(crate) fn blocks_covered(&self, prefix: u32) -> f64 {
        let boundaries: u64 = self.common.iter().take(prefix as usize).map(|&neighbours| u64::from(neighbours)).sum();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let (blocks, prefixes) = (self.len() as f64, (boundaries + 1) as f64);
        (blocks / prefixes - 1.0).max(0.0)
    }

    /// Number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Number of keys in all blocks.
    pub(crate) fn fingerprints(&self) -> u64 {
        self.fingerprints
    }

    /// The first block whose last key is at least `key`; the number of blocks if there is none.
    #[inline]
    pub(crate) fn find(&self, key: u64) -> usize {
        locate::lower_bound(&self.keys, key)
    }

    /// The last key of a block.
    #[inline]
    pub(crate) fn key(&self, block: usize) -> Option<u64> {
        self.keys.get(block).copied()
    }

    /// Where a block lies.
    #[inline]
    pub(crate) fn place(&self, block: usize) -> Option<BlockPlace> {
        Some(BlockPlace {
            page: (block / self.layout.blocks) as u64,
            offset: usize::from(*self.offsets.get(block)?),
            length: usize::from(*self.lengths.get(block)?),
        })
    }

    /// Number of bytes that the blocks of a page fill.
    pub(crate) fn page_used(&self, page: u64) -> usize {
        let first = usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(self.layout.blocks);
        let last = first.saturating_add(self.layout.blocks).min(self.len()).checked_sub(1);
        last.and_then(|last| self.place(last)).map_or(0, |place| place.offset + place.length)
    }

    /// What a block's decoder has to know.
    #[inline]
    pub(crate) fn shape(&self, block: usize) -> Option<BlockShape> {
        let base = match block.checked_sub(1) {
            Some(previous) => self.keys.get(previous)?.checked_add(1)?,
            None => 0,
        };
        Some(BlockShape { base, last: *self.keys.get(block)?, count: usize::from(*self.counts.get(block)?) })
    }

    /// Number of keys before a block.
    pub(crate) fn rank(&self, block: usize) -> u64 {
        let page = block / self.layout.blocks;
        let before: u64 =
            self.counts.get(page * self.layout.blocks..block).unwrap_or_default().iter().map(|&n| u64::from(n)).sum();
        self.ranks.get(page).copied().unwrap_or(0) + before
    }

    /// Bytes of the pages that the blocks fill, with a checksum each.
    pub(crate) fn data_length(&self) -> u64 {
        let Some(place) = self.len().checked_sub(1).and_then(|last| self.place(last)) else { return 0 };
        place.page * self.layout.size as u64 + (place.offset + place.length + crate::format::CHECKSUM) as u64
    }

    /// Bytes of memory.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let columns = self.counts.capacity() + self.lengths.capacity() + self.offsets.capacity();
        ((self.keys.capacity() + self.ranks.capacity()) * 8 + columns * 2) as u64
    }

    /// Gives back memory that growing has left over.
    pub(crate) fn shrink(&mut self) {
        self.keys.shrink_to_fit();
        self.ranks.shrink_to_fit();
        [&mut self.counts, &mut self.lengths, &mut self.offsets].into_iter().for_each(Vec::shrink_to_fit);
    }
}
