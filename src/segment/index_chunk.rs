//! The chunks of a block index, unpacked: 16 bytes a block, and the place of keys within each chunk.

use super::directory::{Keyed, first_from};
use crate::bits::bit_length;
use crate::codec::{BlockKind, BlockShape, prefetch};
use crate::env::{Arena, AtomicArray};
use crate::format::index::{BlockEntry, CHUNK};
use crate::format::page::PageLayout;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words of a chunk's starts, a byte for each slot.
const STARTS: usize = CHUNK / 8;

/// Memory for all chunks of an index. That of a large index is in huge pages, because every search reads another place,
/// and is taken as chunks are filled. Threads may fill the same chunk at once: they write the same words.
#[derive(Debug)]
pub(super) struct UnpackedChunks {
    chunks: usize,
    blocks: usize,
    /// [`STARTS`] words for each chunk, then two for each block.
    words: AtomicArray<AtomicU64>,
}

/// The entries of up to [`CHUNK`] consecutive blocks.
///
/// The range from the least to the last key is cut into as many slots as a chunk has blocks, at most. A search reads
/// the number of keys before its slot and then compares the next few keys: a slot has one or two if keys are spread
/// evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnpackedChunk<'a> {
    /// For each slot the number of blocks whose last key lies in a slot before it. 256 is stored as 255: the search
    /// then ends in the last block, which has every key that comes so far.
    starts: &'a [AtomicU64],
    entries: &'a [BlockKey],
}

/// A block's last key, and the word of its [`Rest`].
type BlockKey = [AtomicU64; 2];

impl Keyed for BlockKey {
    #[inline]
    fn key(&self) -> u64 {
        self[0].load(Relaxed)
    }
}

/// The second word of a [`BlockKey`]: these numbers from its lowest bit on.
#[derive(Clone, Copy)]
struct Rest {
    /// Where the block ends in its page.
    end: u16,
    kind: u8,
    /// Number of keys of the chunk up to the block's last one.
    keys: u64,
}

impl Rest {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "its lower bits")]
    fn of(entry: &BlockKey) -> Self {
        let word = entry[1].load(Relaxed);
        Self { end: word as u16, kind: (word >> 16) as u8, keys: word >> 24 }
    }

    fn word(self) -> u64 {
        u64::from(self.end) | u64::from(self.kind) << 16 | self.keys << 24
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

impl UnpackedChunks {
    /// Of so many chunks and blocks; `None` if there is not enough memory.
    pub(super) fn new(chunks: usize, blocks: usize) -> Option<Self> {
        let words = chunks.checked_mul(STARTS)?.checked_add(blocks.checked_mul(2)?)?;
        Some(Self { chunks, blocks, words: Arena::new(words.checked_mul(8)?).array(words)? })
    }

    /// The chunk; zeros until [`UnpackedChunks::fill`] has filled it.
    #[inline]
    pub(super) fn get(&self, number: usize) -> UnpackedChunk<'_> {
        let words = self.words.as_slice();
        let starts = words.get(number * STARTS..(number + 1) * STARTS).unwrap_or_default();
        let (entries, _) = words.get(self.chunks * STARTS..).unwrap_or_default().as_chunks::<2>();
        let Range { start, end } = number * CHUNK..self.blocks.min((number + 1) * CHUNK);
        UnpackedChunk { starts, entries: entries.get(start..end).unwrap_or_default() }
    }

    pub(super) fn fill(&self, number: usize, bounds: ChunkBounds, layout: PageLayout, blocks: &[BlockEntry]) {
        let chunk = self.get(number);
        let mut counts = [0u8; CHUNK];
        let (mut end, mut keys) = (0u16, 0u64);
        for (at, (block, entry)) in blocks.iter().zip(chunk.entries).enumerate() {
            // Counts in the next slot: that one has the key before it.
            let count = counts.iter_mut().skip(bounds.slot(block.key) + 1).take(1);
            count.for_each(|count| *count = count.saturating_add(1));
            // The parser has checked that the blocks of a page fit it; a page has at most 65,536 bytes.
            end = if layout.begins_page(at) { 0 } else { end }.saturating_add(block.length);
            keys += u64::from(block.count);
            entry[0].store(block.key, Relaxed);
            entry[1].store(Rest { end, kind: block.kind.number(), keys }.word(), Relaxed);
        }
        let mut before = 0u8;
        let starts = counts.map(|count| {
            before = before.saturating_add(count);
            before
        });
        for (start, starts) in chunk.starts.iter().zip(starts.as_chunks::<8>().0) {
            start.store(u64::from_le_bytes(*starts), Relaxed);
        }
    }

    /// Its memory when all chunks are filled.
    pub(super) fn resident_bytes(&self) -> u64 {
        8 * self.words.as_slice().len() as u64
    }
}

impl<'a> UnpackedChunk<'a> {
    pub(super) fn keys(self) -> impl Iterator<Item = u64> + 'a {
        self.entries.iter().map(Keyed::key)
    }

    /// The first block whose last key is at least `key`, which lies in `slot` and is not greater than the last one.
    #[inline]
    pub(super) fn find(self, slot: usize, key: u64) -> usize {
        let end = if slot + 1 < CHUNK { self.start(slot + 1) } else { self.entries.len() };
        first_from(self.entries, self.start(slot)..end, key)
    }

    #[inline]
    fn start(self, slot: usize) -> usize {
        self.starts.get(slot / 8).map_or(0, |starts| (starts.load(Relaxed) >> (slot % 8 * 8) & 0xff) as usize)
    }

    #[inline]
    pub(super) fn prefetch_start(self, slot: usize) {
        prefetch(self.starts, slot / 8);
    }

    #[inline]
    pub(super) fn prefetch_slot(self, slot: usize) {
        let start = self.start(slot);
        // A search compares three entries from the start on, and reads the one before its block.
        prefetch(self.entries, start.saturating_sub(1));
        prefetch(self.entries, start + 2);
    }

    #[inline]
    pub(super) fn key(self, block: usize) -> Option<u64> {
        self.entries.get(block).map(Keyed::key)
    }

    /// Number of keys of the chunk before a block.
    #[inline]
    pub(super) fn keys_before(self, block: usize) -> u64 {
        block.checked_sub(1).and_then(|before| self.entries.get(before)).map_or(0, |entry| Rest::of(entry).keys)
    }

    /// The block with the key of this number in the chunk.
    pub(super) fn block_of(self, key: u64) -> usize {
        self.entries.partition_point(|entry| Rest::of(entry).keys <= key)
    }

    /// The offset of a block in its page, its length, and its shape. `base` is the least key of the chunk.
    // Inlined for the reason that `BlockIndex::block` is.
    #[inline(always)]
    pub(super) fn block(self, base: u64, layout: PageLayout, block: usize) -> Option<(usize, usize, BlockShape)> {
        let entry = self.entries.get(block)?;
        let (base, before) = match block.checked_sub(1) {
            // Keys ascend, so there is a greater one.
            Some(before) => self.entries.get(before).map(|before| (before.key().wrapping_add(1), Rest::of(before)))?,
            None => (base, Rest { end: 0, kind: 0, keys: 0 }),
        };
        let Rest { end, kind, keys } = Rest::of(entry);
        let offset = usize::from(if layout.begins_page(block) { 0 } else { before.end });
        let length = usize::from(end).saturating_sub(offset);
        let kind = BlockKind::from_number(kind)?;
        let count = keys.saturating_sub(before.keys) as usize;
        Some((offset, length, BlockShape { kind, base, last: entry.key(), count }))
    }
}
