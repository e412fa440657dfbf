//! The index section of a table: block keys, key counts, lengths and kinds, in chunks (format-spec/segment.md).
//!
//! A chunk describes 256 blocks, the last one the rest. It stores each of its four columns as the column's minimum and
//! the excesses over it, packed in as many bits as the largest needs. A block key is stored as its gap to the block key
//! before it. An index of more than one chunk begins with a [`directory`].

pub(crate) mod directory;
mod entry;

pub(crate) use entry::{BlockEntry, CHUNK, IndexCodec, IndexShape, rows_per_page};

use super::columns::{self, ChunkShape};
use super::fields::Fields;
use super::page::{self, Stream};
use crate::codec::BlockKind;
use crate::error::{Error, Result};
use crate::plan::coverage::boundaries;
use directory::{IndexChunk, IndexDirectory};

const SHAPE: ChunkShape<4> = ChunkShape {
    rows: "blocks in chunk",
    most: CHUNK,
    columns: [("gap", 8, 64), ("count", 2, 16), ("length", 2, 16), ("kind", 1, 6)],
    errors: ["an index chunk's header is not possible", "padding of an index chunk is not zero"],
};

pub(crate) fn write(entries: &[BlockEntry], codec: IndexCodec, table: u8) -> Vec<u8> {
    let mut base = 0;
    let chunk = |(number, chunk): (u64, &[BlockEntry])| {
        let mut bytes = write_chunk(chunk, codec.step(), &mut base);
        page::seal(&mut bytes, Stream::Index(table), number);
        bytes
    };
    let mut chunks: Vec<Vec<u8>> = (0u64..).zip(entries.chunks(CHUNK)).map(chunk).collect();
    if chunks.len() > 1 {
        chunks.insert(0, directory::write(entries, &chunks, codec, table));
    }
    chunks.concat()
}

fn write_chunk(chunk: &[BlockEntry], step: u64, base: &mut u64) -> Vec<u8> {
    let mut gaps = Vec::with_capacity(chunk.len());
    for entry in chunk {
        gaps.push(entry.key.wrapping_sub(*base));
        *base = entry.key.wrapping_add(step);
    }
    let column = |value: fn(&BlockEntry) -> u64| chunk.iter().map(value).collect();
    let (counts, lengths) = (column(|entry| entry.count.into()), column(|entry| entry.length.into()));
    columns::write(&SHAPE, [gaps, counts, lengths, column(|entry| entry.kind.number().into())])
}

/// Reads a whole index section and calls `visit` for each block; `Damaged` if the section does not describe exactly
/// these blocks, or a block does not fit its page.
pub(crate) fn parse(fields: &mut Fields<'_>, shape: IndexShape, mut visit: impl FnMut(BlockEntry)) -> Result<()> {
    let (start, length) = (fields.offset(), fields.remaining() as u64);
    let directory = if shape.chunks() > 1 { Some(directory::parse(fields, shape, length)?) } else { None };
    let (mut chunks, mut keys, mut base) = (Vec::new(), Vec::new(), 0);
    for number in 0..shape.chunks() {
        let chunk = parse_chunk(fields, shape, number, base, |entry| {
            keys.push(entry.key);
            visit(entry);
        })?;
        chunks.push(chunk);
        // Only the last key of the table can be so great that there is no next one.
        base = chunk.last.wrapping_add(shape.codec.step());
    }
    if let Some(directory) = directory
        && directory != (IndexDirectory { chunks, boundaries: boundaries(keys.into_iter()) })
    {
        return Err(unlike_its_directory().at_offset(start));
    }
    fields.end()
}

pub(crate) fn unlike_its_directory() -> Error {
    Error::damaged("the directory of an index does not describe its chunks")
}

/// Reads chunk `number`, whose first key is `base` at least, and calls `visit` for each of its blocks.
pub(crate) fn parse_chunk(
    fields: &mut Fields<'_>,
    shape: IndexShape,
    number: u64,
    mut base: u64,
    mut visit: impl FnMut(BlockEntry),
) -> Result<IndexChunk> {
    let IndexShape { blocks, layout, codec, table } = shape;
    let start = fields.offset();
    let wrong = |message: &str| Error::damaged(message).at_offset(start);
    let mut chunk = columns::read(fields, &SHAPE, Stream::Index(table), number)?;
    let first = number.saturating_mul(CHUNK as u64);
    if chunk.rows as u64 != blocks.saturating_sub(first).min(CHUNK as u64) {
        return Err(wrong("an index chunk with another number of blocks than it should have"));
    }
    // The blocks of a chunk fill whole pages.
    let (mut filled, mut keys, mut last) = (0, 0, base);
    for block in first..first + chunk.rows as u64 {
        let row = chunk.next_row().and_then(|row| Some((base.checked_add(row[0])?, row)));
        let (key, [_, count, length, kind]) = row.ok_or_else(|| wrong("a block key exceeds 64 bits"))?;
        // Only the last block of the table may end at the greatest key.
        base = key
            .checked_add(codec.step())
            .or((block + 1 == blocks).then_some(0))
            .ok_or_else(|| wrong("keys after the last"))?;
        let kind = u8::try_from(kind).ok().and_then(BlockKind::from_number);
        let entry = BlockEntry {
            key,
            count: u16::try_from(count)
                .ok()
                .filter(|&count| count > 0)
                .ok_or_else(|| wrong("a block without keys, or with too many"))?,
            length: u16::try_from(length).map_err(|_| wrong("a block too long"))?,
            kind: kind.ok_or_else(|| wrong("a kind of block that does not exist"))?,
        };
        if !codec.allows(&entry, block + 1 == blocks) {
            return Err(wrong("a block whose kind, count or length its table does not have"));
        }
        filled = if block % layout.blocks as u64 == 0 { 0 } else { filled } + usize::from(entry.length);
        if filled > layout.payload() {
            return Err(wrong("blocks do not fit their page"));
        }
        (keys, last) = (keys + u64::from(entry.count), key);
        visit(entry);
    }
    Ok(IndexChunk { last, keys, length: fields.offset() - start })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Codec;
    use crate::format::page::PageLayout;
    use proptest::prelude::*;

    fn read(bytes: &[u8], blocks: usize) -> Result<Vec<BlockEntry>> {
        let (layout, codec) = (PageLayout::new(512), IndexCodec::Keys(Codec::Adaptive));
        let mut entries = Vec::new();
        let shape = IndexShape { blocks: blocks as u64, layout, codec, table: 1 };
        parse(&mut Fields::new(bytes, 0), shape, |entry| entries.push(entry)).map(|()| entries)
    }

    proptest! {
        #[test]
        fn chunks_of_any_blocks_round_trip(
            mut keys in prop::collection::btree_set(any::<u64>(), 0..700), count in 1u16.., length in 0u16..=511,
        ) {
            keys.insert(u64::MAX);
            let entries: Vec<BlockEntry> = (0..).zip(keys).map(|(number, key)| BlockEntry {
                key,
                count: if number % 3 == 0 { count } else { 1 },
                length: if number % 5 == 0 { length } else { 511 },
                kind: if number % 7 == 0 { BlockKind::Flips } else { BlockKind::Gap { low_width: number % 57 } },
            }).collect();
            let bytes = write(&entries, IndexCodec::Keys(Codec::Adaptive), 1);
            prop_assert_eq!(&read(&bytes, entries.len()).unwrap(), &entries);
            prop_assert!(read(&bytes, entries.len() + 1).is_err() && read(&bytes, entries.len() - 1).is_err());
        }
    }

    #[test]
    fn a_gap_beyond_64_bits_is_refused() {
        let mut bytes = columns::write(&SHAPE, [vec![0, u64::MAX], vec![1; 2], vec![9; 2], vec![0; 2]]);
        bytes[6] = 1;
        page::seal(&mut bytes, Stream::Index(1), 0);
        assert_eq!(read(&bytes, 2).unwrap_err().message(), "a block key exceeds 64 bits");
    }
}
