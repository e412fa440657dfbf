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
    /// For every prefix length, how many blocks the keys with one prefix extend over.
    covered: [f64; 65],
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
            covered: [0.0; 65],
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
        self.keys.push(entry.key);
        self.counts.push(entry.count);
        self.lengths.push(entry.length);
        self.offsets.push(offset);
        self.fingerprints += u64::from(entry.count);
    }

    /// Blocks that the keys with one prefix of this length extend over, on average over the prefixes that block keys have.
    pub(crate) fn blocks_covered(&self, prefix: u32) -> f64 {
        self.covered.get(prefix as usize).copied().unwrap_or(0.0)
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

    /// To be called after the last block: measures the skew and gives back memory that growing has left over.
    pub(crate) fn complete(&mut self) {
        self.covered = covered(&self.keys);
        self.keys.shrink_to_fit();
        self.ranks.shrink_to_fit();
        [&mut self.counts, &mut self.lengths, &mut self.offsets].into_iter().for_each(Vec::shrink_to_fit);
    }
}

/// Blocks that the keys with one prefix extend over, for every prefix length from 0 to 64.
///
/// Block keys are a sample of the data, one key a block, and show its skew: bits that hardly vary tell few of them apart.
/// Ranges shorter than a few blocks are below the sample's resolution; there every further bit is taken to halve them,
/// unless block keys that still share the prefix say otherwise.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn covered(keys: &[u64]) -> [f64; 65] {
    const RESOLUTION: f64 = 4.0;
    let blocks = keys.len() as f64;
    let mut common = [0usize; 65];
    for (a, b) in keys.iter().zip(keys.iter().skip(1)) {
        common.iter_mut().skip((a ^ b).leading_zeros() as usize).take(1).for_each(|neighbours| *neighbours += 1);
    }
    let mut covered = [blocks; 65];
    let (mut prefixes, mut shorter) = (1, blocks);
    for (slot, boundaries) in covered.iter_mut().skip(1).zip(common) {
        prefixes += boundaries;
        let shared = blocks / prefixes as f64;
        shorter = if shared >= RESOLUTION { shared } else { f64::max(shorter / 2.0, shared - 1.0) };
        *slot = shorter;
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_keys_cover_half_with_every_bit_and_constant_bits_tell_nothing_apart() {
        let even: Vec<u64> = (0..1000u64).map(|i| i.wrapping_mul(u64::MAX / 1000)).collect();
        let behind_zeros: Vec<u64> = even.iter().map(|key| key >> 20).collect();
        for prefix in 0..=24 {
            let expected = 1000.0 / 2f64.powi(prefix);
            let found = covered(&even)[prefix as usize];
            assert!((expected / 2.0..=expected * 2.0).contains(&found), "{prefix}: {found} for {expected}");
            let found = covered(&behind_zeros)[20 + prefix as usize];
            assert!((expected / 2.0..=expected * 2.0).contains(&found), "{prefix}: {found} for {expected}");
        }
        assert_eq!(covered(&behind_zeros)[20], 1000.0);
        assert!(covered(&[]).iter().chain(&covered(&[7])).all(|blocks| blocks.is_finite()));
    }
}
