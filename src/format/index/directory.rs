//! The directory of an index of more than one chunk: each chunk's last key, number of keys and length, then the
//! boundaries of all block keys. With it a reader finds the chunk of a key, or of a block, and reads no other one.

use super::entry::{BlockEntry, CHUNK, IndexCodec, IndexShape};
use crate::error::{Error, Result};
use crate::format::columns::{self, ChunkShape};
use crate::format::fields::Fields;
use crate::format::page::{self, Stream};
use crate::plan::coverage::boundaries;

/// Chunks of the index that every chunk of the directory but the last describes.
const ROWS: usize = 256;
const SHAPE: ChunkShape<3> = ChunkShape {
    rows: "index chunks",
    most: ROWS,
    columns: [("gap", 8, 64), ("keys", 8, 24), ("length", 2, 16)],
    errors: ["the header of an index directory is not possible", "padding of an index directory is not zero"],
};
const BOUNDARIES: ChunkShape<1> = ChunkShape {
    rows: "bits",
    most: 64,
    columns: [("boundaries", 8, 64)],
    errors: ["the header of index boundaries is not possible", "padding of index boundaries is not zero"],
};
/// Bytes of a chunk of the directory at most, with its checksum.
const MOST_BYTES: u64 = 2 + 3 + 18 + (ROWS as u64 * (64 + 24 + 16)).div_ceil(8) + 4;
/// The same of the boundaries.
const MOST_BYTES_OF_BOUNDARIES: u64 = 2 + 1 + 8 + 64 * 8 + 4;
/// Bytes of a chunk of the index at least.
const LEAST_LENGTH: u64 = 23;

/// A chunk of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexChunk {
    /// The key of its last block.
    pub(crate) last: u64,
    /// Number of keys of its blocks.
    pub(crate) keys: u64,
    /// Its bytes, with the checksum.
    pub(crate) length: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexDirectory {
    pub(crate) chunks: Vec<IndexChunk>,
    /// As [`boundaries`] of the keys of all blocks.
    pub(crate) boundaries: [u64; 64],
}

/// An upper bound of the bytes of the directory of an index of this many blocks.
pub(crate) fn most_bytes(blocks: u64) -> u64 {
    let chunks = blocks.div_ceil(CHUNK as u64);
    if chunks > 1 { chunks.div_ceil(ROWS as u64).saturating_mul(MOST_BYTES) + MOST_BYTES_OF_BOUNDARIES } else { 0 }
}

pub(super) fn write(entries: &[BlockEntry], chunks: &[Vec<u8>], codec: IndexCodec, table: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut number = 0;
    let mut close = |mut chunk: Vec<u8>| {
        page::seal(&mut chunk, Stream::IndexDirectory(table), number);
        number += 1;
        out.append(&mut chunk);
    };
    let mut base = 0;
    for (entries, chunks) in entries.chunks(CHUNK * ROWS).zip(chunks.chunks(ROWS)) {
        let mut gaps = Vec::new();
        for last in entries.chunks(CHUNK).filter_map(<[BlockEntry]>::last) {
            gaps.push(last.key.wrapping_sub(base));
            base = last.key.wrapping_add(codec.step());
        }
        let keys = |chunk: &[BlockEntry]| chunk.iter().map(|entry| u64::from(entry.count)).sum();
        let lengths = chunks.iter().map(|chunk| chunk.len() as u64).collect();
        close(columns::write(&SHAPE, [gaps, entries.chunks(CHUNK).map(keys).collect(), lengths]));
    }
    let boundaries = boundaries(entries.iter().map(|entry| entry.key));
    close(columns::write(&BOUNDARIES, [boundaries.to_vec()]));
    out
}

/// Reads the directory at the front of an index section of `length` bytes. `Damaged` if its chunks do not fill the
/// rest of the section, or a field is outside its valid values.
pub(crate) fn parse(fields: &mut Fields<'_>, shape: IndexShape, length: u64) -> Result<IndexDirectory> {
    let wrong = |message: &str, offset: u64| Error::damaged(message).at_offset(offset);
    let start = fields.offset();
    let stream = Stream::IndexDirectory(shape.table);
    let (mut chunks, mut number, mut base, mut bytes) = (Vec::new(), 0, Some(0u64), 0u64);
    while (chunks.len() as u64) < shape.chunks() {
        let at = fields.offset();
        let mut described = columns::read(fields, &SHAPE, stream, number)?;
        number += 1;
        if described.rows as u64 != (shape.chunks() - chunks.len() as u64).min(ROWS as u64) {
            return Err(wrong("an index directory with another number of chunks than it should have", at));
        }
        for _ in 0..described.rows {
            let row = described.next_row().and_then(|row| Some((base?.checked_add(row[0])?, row)));
            let (last, [_, keys, length_of_chunk]) =
                row.ok_or_else(|| wrong("a number of an index directory exceeds 64 bits", at))?;
            base = last.checked_add(shape.codec.step());
            bytes = bytes.saturating_add(length_of_chunk);
            let possible = (1..=CHUNK as u64 * u64::from(u16::MAX)).contains(&keys);
            // The length bounds the memory of the directory: each of its rows stands for so many bytes at hand.
            if !possible || length_of_chunk < LEAST_LENGTH || bytes > length {
                return Err(wrong("keys or length of an index chunk out of range", at));
            }
            chunks.push(IndexChunk { last, keys, length: length_of_chunk });
        }
    }
    let at = fields.offset();
    let mut column = columns::read(fields, &BOUNDARIES, stream, number)?;
    let mut boundaries = [0; 64];
    if column.rows != boundaries.len() {
        return Err(wrong("boundaries of an index are not those of 64 bits", at));
    }
    for boundary in &mut boundaries {
        [*boundary] = column.next_row().ok_or_else(|| wrong("boundaries of an index exceed 64 bits", at))?;
    }
    if (fields.offset() - start).checked_add(bytes) != Some(length) {
        return Err(wrong("the chunks of the index do not fill its section", start));
    }
    Ok(IndexDirectory { chunks, boundaries })
}
