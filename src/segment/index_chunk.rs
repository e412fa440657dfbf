//! One chunk of a block index, unpacked: 14 bytes a block, and the place of keys within it.

use super::directory::Keyed;
use crate::bits::bit_length;
use crate::codec::{BlockKind, BlockShape, prefetch};
use crate::format::index::{BlockEntry, CHUNK};
use crate::format::page::PageLayout;

/// The entries of up to [`CHUNK`] consecutive blocks.
///
/// The range from the least to the last key is cut into as many slots as a chunk has blocks, at most. A search reads
/// the number of keys before its slot and then compares keys of this slot alone: one or two if keys are spread evenly.
#[derive(Debug)]
pub(super) struct UnpackedChunk {
    /// For each slot the number of blocks whose last key lies in a slot before it. 256 is stored as 255: the search then
    /// ends in the last block, which has every key that comes so far.
    starts: Box<[u8; CHUNK]>,
    entries: Box<[BlockKey]>,
}

/// A block's entry, packed into 14 bytes instead of 16; most often in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(2))]
struct BlockKey {
    key: u64,
    /// Where the block ends in its page.
    end: u16,
    /// Number of keys of the chunk up to the block's last one, in 24 bits.
    keys: [u8; 3],
    kind: u8,
}

impl BlockKey {
    #[inline]
    fn keys(&self) -> u32 {
        let [low, middle, high] = self.keys;
        u32::from_le_bytes([low, middle, high, 0])
    }
}

impl Keyed for BlockKey {
    #[inline]
    fn key(&self) -> u64 {
        self.key
    }
}

/// The keys of a chunk: its least possible one, and its last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkBounds {
    pub(super) base: u64,
    pub(super) last: u64,
}

impl ChunkBounds {
    /// The slot of a key of the chunk.
    #[inline]
    pub(super) fn slot(self, key: u64) -> usize {
        let shift = bit_length(self.last.saturating_sub(self.base)).saturating_sub(CHUNK.trailing_zeros());
        ((key.saturating_sub(self.base) >> shift) as usize).min(CHUNK - 1)
    }
}

impl UnpackedChunk {
    /// Unpacks entries in order.
    pub(super) fn new(bounds: ChunkBounds, layout: PageLayout, blocks: &[BlockEntry]) -> Self {
        let mut counts = [0u32; CHUNK];
        let (mut end, mut keys) = (0u16, 0u32);
        let entries = blocks.iter().enumerate().map(|(number, block)| {
            // Counts in the next slot: that one has the key before it.
            counts.iter_mut().skip(bounds.slot(block.key) + 1).take(1).for_each(|count| *count += 1);
            // The parser has checked that the blocks of a page fit it; a page has at most 65,536 bytes.
            end = if layout.begins_page(number) { 0 } else { end }.saturating_add(block.length);
            keys += u32::from(block.count);
            let [low, middle, high, _] = keys.to_le_bytes();
            BlockKey { key: block.key, end, keys: [low, middle, high], kind: block.kind.number() }
        });
        let entries = entries.collect();
        let mut before = 0;
        let starts = counts.map(|count| {
            before += count;
            u8::try_from(before).unwrap_or(u8::MAX)
        });
        Self { starts: Box::new(starts), entries }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().map(Keyed::key)
    }

    /// The first block whose last key is at least `key`, which lies in `slot` and is not greater than the last one.
    #[inline]
    pub(super) fn find(&self, slot: usize, key: u64) -> usize {
        let start = self.start(slot);
        let end = self.starts.get(slot + 1).map_or(self.entries.len(), |&end| end.into());
        let inside = self.entries.get(start..end).unwrap_or_default();
        start + inside.partition_point(|other| other.key() < key)
    }

    #[inline]
    fn start(&self, slot: usize) -> usize {
        self.starts.get(slot).map_or(0, |&start| start.into())
    }

    #[inline]
    pub(super) fn prefetch_start(&self, slot: usize) {
        prefetch(&self.starts[..], slot);
    }

    #[inline]
    pub(super) fn prefetch_slot(&self, slot: usize) {
        prefetch(&self.entries, self.start(slot));
    }

    #[inline]
    pub(super) fn key(&self, block: usize) -> Option<u64> {
        self.entries.get(block).map(Keyed::key)
    }

    /// Number of keys of the chunk before a block.
    #[inline]
    pub(super) fn keys_before(&self, block: usize) -> u32 {
        block.checked_sub(1).and_then(|before| self.entries.get(before)).map_or(0, BlockKey::keys)
    }

    /// The block with the key of this number in the chunk.
    pub(super) fn block_of(&self, key: u64) -> usize {
        self.entries.partition_point(|entry| u64::from(entry.keys()) <= key)
    }

    /// The offset of a block in its page, its length, and its shape. `base` is the least key of the chunk.
    #[inline]
    pub(super) fn block(&self, base: u64, layout: PageLayout, block: usize) -> Option<(usize, usize, BlockShape)> {
        let entry = self.entries.get(block)?;
        let (base, end, keys) = match block.checked_sub(1) {
            // Keys ascend, so there is a greater one.
            Some(before) => {
                self.entries.get(before).map(|before| (before.key.wrapping_add(1), before.end, before.keys()))?
            }
            None => (base, 0, 0),
        };
        let offset = usize::from(if layout.begins_page(block) { 0 } else { end });
        let length = usize::from(entry.end).saturating_sub(offset);
        let kind = BlockKind::from_number(entry.kind)?;
        let count = entry.keys().saturating_sub(keys) as usize;
        Some((offset, length, BlockShape { kind, base, last: entry.key, count }))
    }

    /// Memory of chunks of so many blocks, beside themselves.
    pub(super) fn resident_bytes(chunks: usize, blocks: usize) -> u64 {
        (chunks * CHUNK + blocks * size_of::<BlockKey>()) as u64
    }
}
