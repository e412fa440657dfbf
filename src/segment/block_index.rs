//! The block index of one table: its directory is in memory, and every chunk from the time when it is first needed.
//!
//! Opening reads the directory and the last chunk. So one query reads some kilobytes of an index of hundreds of
//! megabytes, and takes some tens of megabytes. After many queries all of it is in memory: 16 bytes a block, 1 more for
//! searching, and 25 for each chunk of 256 blocks.

use super::directory::Directory;
use super::file::SegmentFile;
use super::index_chunk::{ChunkBounds, UnpackedChunk, UnpackedChunks};
use crate::bits::low_mask;
use crate::codec::BlockShape;
use crate::error::{Error, ErrorKind, Result};
use crate::format::fields::Fields;
use crate::format::footer::Span;
use crate::format::index::directory::{self, IndexChunk, IndexDirectory};
use crate::format::index::{self, BlockEntry, CHUNK, IndexShape};
use crate::plan::coverage::{boundaries, covered};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub(crate) struct BlockIndex {
    file: Arc<SegmentFile>,
    section: Span,
    shape: IndexShape,
    /// Number of bits by which stored keys are shorter than 64. Searched keys have 64 bits, with zeros at the end.
    shift: u32,
    blocks: usize,
    /// The last key of each chunk.
    lasts: Vec<u64>,
    chunks: Vec<Chunk>,
    unpacked: UnpackedChunks,
    /// Set after a chunk was unpacked, with release ordering, so that threads that see it see the chunk.
    are_unpacked: Vec<AtomicBool>,
    directory: Directory,
    fingerprints: u64,
    /// Bytes of the pages that the blocks fill, with their checksums.
    data_length: u64,
    boundaries: [u64; 64],
    /// For every prefix length, over how many blocks the keys with one prefix extend.
    covered: [f64; 65],
}

#[derive(Debug)]
struct Chunk {
    /// Number of keys before it.
    rank: u64,
    /// Its offset in the file.
    offset: u64,
}

/// Where a key is searched: the chunk that has it, and a slot of this chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexSlot {
    chunk: usize,
    slot: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockPlace {
    pub(crate) page: u64,
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

impl BlockIndex {
    /// Opens the index in this section. Reads and checks its directory, and its last chunk.
    pub(super) fn open(file: &Arc<SegmentFile>, section: Span, shape: IndexShape, shift: u32) -> Result<Self> {
        let mut buffer = Vec::new();
        let place = |error: Error| error.at_path(file.path());
        let damaged = |message| place(Error::damaged(message).at_offset(section.offset));
        let blocks = usize::try_from(shape.blocks).map_err(|_| damaged("an index of too many blocks"))?;
        // An only chunk is read at once, and is its own directory.
        let mut only = None;
        let (IndexDirectory { chunks: described, boundaries }, mut offset) = if shape.chunks() > 1 {
            let length = directory::most_bytes(shape.blocks).min(section.length);
            let mut fields = Fields::new(file.read(Span { length, ..section }, &mut buffer)?, section.offset);
            (directory::parse(&mut fields, shape, section.length).map_err(place)?, fields.offset())
        } else if blocks > 0 {
            let (entries, chunk) = read_chunk(file, shape, (0, 0), section)?;
            let boundaries = boundaries(entries.iter().map(|entry| entry.key));
            only = Some(entries);
            (IndexDirectory { chunks: vec![chunk], boundaries }, section.offset)
        } else if section.length > 0 {
            return Err(damaged("an index of no blocks has bytes"));
        } else {
            (IndexDirectory { chunks: Vec::new(), boundaries: [0; 64] }, section.offset)
        };
        let (mut chunks, mut fingerprints) = (Vec::with_capacity(described.len()), 0);
        for &IndexChunk { keys, length, .. } in &described {
            chunks.push(Chunk { rank: fingerprints, offset });
            fingerprints += keys;
            offset += length;
        }
        // Not before the directory has shown that there are bytes for all of them.
        let unpacked = UnpackedChunks::new(chunks.len(), blocks)
            .ok_or_else(|| place(Error::new(ErrorKind::Io, "there is not enough memory for a block index")))?;
        let lasts: Vec<u64> = described.iter().map(|chunk| chunk.last).collect();
        let mut index = Self {
            file: Arc::clone(file),
            section,
            shape,
            shift,
            blocks,
            are_unpacked: chunks.iter().map(|_| AtomicBool::new(only.is_some())).collect(),
            directory: Directory::new(&lasts),
            lasts,
            chunks,
            unpacked,
            fingerprints,
            data_length: 0,
            boundaries,
            covered: covered(shape.blocks, boundaries.into_iter().skip(shift as usize)),
        };
        if let Some(entries) = only {
            index.unpacked.fill(0, index.bounds(0), shape.layout, &entries);
        }
        if let Some(last) = blocks.checked_sub(1)
            && let Some(place) = index.place(last)?
        {
            let end = (place.offset + place.length + crate::format::CHECKSUM) as u64;
            index.data_length = place.page * shape.layout.size as u64 + end;
        }
        Ok(index)
    }

    /// Blocks over which the keys with one prefix of this length extend, on average over the prefixes of block keys.
    pub(crate) fn blocks_covered(&self, prefix: u32) -> f64 {
        self.covered.get(prefix as usize).copied().unwrap_or(0.0)
    }

    pub(crate) fn len(&self) -> usize {
        self.blocks
    }

    pub(crate) fn last_key(&self) -> u64 {
        self.lasts.last().copied().unwrap_or(0)
    }

    pub(crate) fn fingerprints(&self) -> u64 {
        self.fingerprints
    }

    pub(crate) fn data_length(&self) -> u64 {
        self.data_length
    }

    /// Its memory when all chunks are unpacked.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let each = size_of::<Chunk>() + size_of::<u64>() + size_of::<AtomicBool>();
        let chunks = self.chunks.capacity() * each + self.directory.resident_bytes();
        chunks as u64 + self.unpacked.resident_bytes()
    }

    /// The first block whose last key is at least `key`; the number of blocks if there is none.
    #[inline]
    pub(crate) fn find(&self, key: u64) -> Result<usize> {
        self.find_in(self.slot(key), key)
    }

    /// The first of three steps of finding many keys at once, each step for all keys: the slot of `key`. Prefetches it,
    /// or announces that its chunk will be read.
    #[inline]
    pub(crate) fn slot(&self, key: u64) -> IndexSlot {
        let key = key >> self.shift;
        let number = self.directory.lower_bound(&self.lasts, self.directory.slot(key), key);
        let slot = self.bounds(number).slot(key);
        match self.are_unpacked.get(number) {
            Some(it) if it.load(Ordering::Acquire) => self.unpacked.get(number).prefetch_start(slot),
            Some(_) => self.will_unpack(number),
            None => {}
        }
        IndexSlot { chunk: number, slot }
    }

    /// The second step: prefetches the slot's entries.
    #[inline]
    pub(crate) fn prefetch_slot(&self, slot: IndexSlot) {
        if self.are_unpacked.get(slot.chunk).is_some_and(|it| it.load(Ordering::Acquire)) {
            self.unpacked.get(slot.chunk).prefetch_slot(slot.slot);
        }
    }

    /// The third step: as [`BlockIndex::find`].
    #[inline]
    pub(crate) fn find_in(&self, slot: IndexSlot, key: u64) -> Result<usize> {
        let Some(chunk) = self.unpacked(slot.chunk)? else { return Ok(self.blocks) };
        Ok(slot.chunk * CHUNK + chunk.find(slot.slot, key >> self.shift))
    }

    /// The greatest 64-bit number that begins with the last key of a block.
    #[inline]
    pub(crate) fn key(&self, block: usize) -> Result<Option<u64>> {
        let key = self.unpacked(block / CHUNK)?.and_then(|chunk| chunk.key(block % CHUNK));
        Ok(key.map(|key| self.greatest(key)))
    }

    /// The greatest 64-bit number that begins with a stored key.
    #[inline]
    pub(super) fn greatest(&self, key: u64) -> u64 {
        key << self.shift | low_mask(self.shift)
    }

    #[inline]
    pub(crate) fn place(&self, block: usize) -> Result<Option<BlockPlace>> {
        Ok(self.block(block)?.map(|(place, _)| place))
    }

    #[inline]
    pub(crate) fn shape(&self, block: usize) -> Result<Option<BlockShape>> {
        Ok(self.block(block)?.map(|(_, shape)| shape))
    }

    // Inlined everywhere: returning the result through memory makes a decoded block of 256 bytes a quarter slower.
    #[inline(always)]
    pub(crate) fn block(&self, block: usize) -> Result<Option<(BlockPlace, BlockShape)>> {
        let (layout, number) = (self.shape.layout, block / CHUNK);
        let Some(chunk) = self.unpacked(number)? else { return Ok(None) };
        let of_chunk = chunk.block(self.base(number), layout, block % CHUNK);
        Ok(of_chunk
            .map(|(offset, length, shape)| (BlockPlace { page: layout.page_of(block) as u64, offset, length }, shape)))
    }

    /// Number of bytes of a page that blocks fill.
    pub(crate) fn page_used(&self, page: u64) -> Result<usize> {
        let first = usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(self.shape.layout.blocks);
        let last = first.saturating_add(self.shape.layout.blocks).min(self.blocks).checked_sub(1);
        let place = last.map_or(Ok(None), |last| self.place(last))?;
        Ok(place.map_or(0, |place| place.offset + place.length))
    }

    /// Number of keys before a block; after the last one, all.
    #[inline]
    pub(crate) fn rank(&self, block: usize) -> Result<u64> {
        if block >= self.blocks {
            return Ok(self.fingerprints);
        }
        let number = block / CHUNK;
        let (Some(unpacked), Some(chunk)) = (self.unpacked(number)?, self.chunks.get(number)) else {
            return Ok(self.fingerprints);
        };
        Ok(chunk.rank + unpacked.keys_before(block % CHUNK))
    }

    /// The rank of a stored key in this block, if the block has as many keys as there are numbers from the key before
    /// it to its last one. So it has all of these, and need not be decoded.
    #[inline]
    pub(crate) fn rank_in_dense(&self, block: usize, key: u64) -> Result<Option<u64>> {
        let Some(BlockShape { base, last, count, .. }) = self.shape(block)? else { return Ok(None) };
        let is_dense = (base..=last).contains(&key) && (last - base).checked_add(1) == Some(count as u64);
        if is_dense { Ok(Some(self.rank(block)? + (key - base))) } else { Ok(None) }
    }

    /// The block with the key of this rank, and how many keys come before it there.
    pub(crate) fn block_of_rank(&self, rank: u64) -> Result<Option<(usize, usize)>> {
        if rank >= self.fingerprints {
            return Ok(None);
        }
        let number = self.chunks.partition_point(|chunk| chunk.rank <= rank).saturating_sub(1);
        let (Some(unpacked), Some(chunk)) = (self.unpacked(number)?, self.chunks.get(number)) else { return Ok(None) };
        let key = rank - chunk.rank;
        let block = unpacked.block_of(key);
        let before = key - unpacked.keys_before(block);
        Ok(usize::try_from(before).ok().map(|before| (number * CHUNK + block, before)))
    }

    /// The error of each damaged chunk. Reads them all.
    pub(super) fn damages(&self) -> Vec<Error> {
        (0..self.chunks.len()).filter_map(|number| self.unpacked(number).err()).collect()
    }

    /// Checks that the boundaries are those of the blocks' keys.
    pub(super) fn check_boundaries(&self) -> Result<()> {
        let mut keys = Vec::with_capacity(self.blocks);
        for number in 0..self.chunks.len() {
            keys.extend(self.unpacked(number)?.into_iter().flat_map(|chunk| chunk.keys()));
        }
        if boundaries(keys.into_iter()) == self.boundaries {
            return Ok(());
        }
        Err(index::unlike_its_directory().at_path(self.file.path()).at_offset(self.section.offset))
    }

    /// The least key of a chunk.
    #[inline]
    fn base(&self, number: usize) -> u64 {
        // Keys ascend, so there is one after the last key of a chunk. Among rows, that key may go on.
        number.checked_sub(1).and_then(|before| self.lasts.get(before)).map_or(0, |last| last.wrapping_add(1))
    }

    #[inline]
    fn bounds(&self, number: usize) -> ChunkBounds {
        ChunkBounds { base: self.base(number), last: self.lasts.get(number).copied().unwrap_or(0) }
    }

    /// A chunk of the index; `None` after the last one.
    #[inline]
    fn unpacked(&self, number: usize) -> Result<Option<UnpackedChunk<'_>>> {
        match self.are_unpacked.get(number) {
            Some(it) if it.load(Ordering::Acquire) => {}
            Some(it) => self.unpack(number, it)?,
            None => return Ok(None),
        }
        Ok(Some(self.unpacked.get(number)))
    }

    #[cold]
    fn unpack(&self, number: usize, is_unpacked: &AtomicBool) -> Result<()> {
        let place = self.span(number);
        let base = match number {
            0 => 0,
            _ => self.base(number).wrapping_sub(1).wrapping_add(self.shape.codec.step()),
        };
        let (entries, found) = read_chunk(&self.file, self.shape, (number, base), place)?;
        let rank = |number| self.chunks.get(number).map_or(self.fingerprints, |chunk: &Chunk| chunk.rank);
        let bounds = self.bounds(number);
        if (found.last, found.keys) != (bounds.last, rank(number + 1) - rank(number)) {
            return Err(index::unlike_its_directory().at_path(self.file.path()).at_offset(place.offset));
        }
        self.unpacked.fill(number, bounds, self.shape.layout, &entries);
        is_unpacked.store(true, Ordering::Release);
        Ok(())
    }

    /// The place of a chunk in the file.
    fn span(&self, number: usize) -> Span {
        let offset = self.chunks.get(number).map_or(self.section.end(), |chunk| chunk.offset);
        let end = self.chunks.get(number + 1).map_or(self.section.end(), |next| next.offset);
        Span { offset, length: end.saturating_sub(offset) }
    }

    #[cold]
    fn will_unpack(&self, number: usize) {
        let Span { offset, length } = self.span(number);
        self.file.contents().will_read(offset, length);
    }
}

/// Reads the entries of a chunk, whose first key is `base` at least, from its place in the file.
fn read_chunk(
    file: &SegmentFile,
    shape: IndexShape,
    (number, base): (usize, u64),
    place: Span,
) -> Result<(Vec<BlockEntry>, IndexChunk)> {
    let (mut buffer, mut entries) = (Vec::new(), Vec::with_capacity(CHUNK));
    let mut fields = Fields::new(file.read(place, &mut buffer)?, place.offset);
    let chunk = index::parse_chunk(&mut fields, shape, number as u64, base, |entry| entries.push(entry));
    let chunk = chunk.and_then(|chunk| fields.end().map(|()| chunk));
    chunk.map(|chunk| (entries, chunk)).map_err(|error| error.at_path(file.path()))
}

#[cfg(test)]
#[path = "block_index_tests.rs"]
mod tests;
