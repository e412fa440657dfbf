//! The index section of a table: block keys, key counts and lengths, in chunks (format-spec/segment.md).
//!
//! A chunk describes up to 256 blocks. Each of its four columns is stored as the column's minimum and the excesses over
//! it, packed in as many bits as the largest needs. A block key is stored as its gap to the block key before it.

use super::Parameters;
use super::fields::Fields;
use super::page::{self, PageLayout, Stream};
use crate::bits::{BitWriter, Forward, bit_length, load_bits};
use crate::codec::{BlockKind, Codec};
use crate::error::{Error, Result};

/// Most blocks in a chunk.
pub(crate) const CHUNK: usize = 256;

/// One block, as the index describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockEntry {
    /// The block's last key.
    pub(crate) key: u64,
    /// Number of keys in the block, 1 to 65,535.
    pub(crate) count: u16,
    /// Number of its bytes.
    pub(crate) length: u16,
    /// How it is written.
    pub(crate) kind: BlockKind,
}

/// What has to be known of a table to read its index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexShape {
    /// Number of blocks.
    pub(crate) blocks: u64,
    /// How they lie in pages.
    pub(crate) layout: PageLayout,
    /// Which kinds they may be of.
    pub(crate) codec: IndexCodec,
    /// The table's number.
    pub(crate) table: u8,
}

/// What the blocks of an index may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexCodec {
    /// Blocks of keys. No two have the same last key.
    Keys(Codec),
    /// Pages of rows of so many bytes. Their last rows may begin with the same 64 bits.
    Rows(usize),
}

impl IndexCodec {
    /// That of a table of a segment.
    pub(crate) fn of_table(parameters: &Parameters, table: usize) -> Self {
        if table == 0 && parameters.width() > 64 {
            Self::Rows((parameters.width() / 8) as usize)
        } else {
            Self::Keys(parameters.codec())
        }
    }

    /// The codec whose codes stand beside the index. Rows have none: theirs are those of a table that needs no code.
    pub(crate) fn of_codes(self) -> Codec {
        match self {
            Self::Keys(codec) => codec,
            Self::Rows(_) => Codec::Adaptive,
        }
    }

    /// How much the last key of a block is at least greater than that of the one before.
    fn step(self) -> u64 {
        match self {
            Self::Keys(_) => 1,
            Self::Rows(_) => 0,
        }
    }

    fn allows(self, entry: &BlockEntry, last: bool) -> bool {
        match self {
            Self::Keys(codec) => entry.kind.belongs_to(codec) && entry.kind != BlockKind::Rows,
            Self::Rows(bytes) => {
                let (count, full) = (usize::from(entry.count), rows_per_page(bytes));
                let counted = if last { count <= full } else { count == full };
                entry.kind == BlockKind::Rows && counted && usize::from(entry.length) == count * bytes
            }
        }
    }
}

/// Rows of so many bytes in a page.
pub(crate) fn rows_per_page(bytes: usize) -> usize {
    (page::MIN_SIZE - super::CHECKSUM) / bytes.max(1)
}

/// The bytes of a table's index.
pub(crate) fn write(entries: &[BlockEntry], codec: IndexCodec, table: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut base = 0;
    for (number, chunk) in (0u64..).zip(entries.chunks(CHUNK)) {
        let mut bytes = write_chunk(chunk, codec.step(), &mut base);
        page::seal(&mut bytes, Stream::Index(table), number);
        out.append(&mut bytes);
    }
    out
}

fn write_chunk(chunk: &[BlockEntry], step: u64, base: &mut u64) -> Vec<u8> {
    let mut gaps = Vec::with_capacity(chunk.len());
    for entry in chunk {
        gaps.push(entry.key.wrapping_sub(*base));
        *base = entry.key.wrapping_add(step);
    }
    let columns = [
        gaps,
        chunk.iter().map(|entry| u64::from(entry.count)).collect(),
        chunk.iter().map(|entry| u64::from(entry.length)).collect(),
        chunk.iter().map(|entry| u64::from(entry.kind.number())).collect(),
    ]
    .map(|column| {
        let least = column.iter().copied().min().unwrap_or(0);
        let width = bit_length(column.iter().map(|value| value - least).max().unwrap_or(0));
        (column, least, width)
    });
    let mut out = Vec::new();
    out.extend_from_slice(&u16::try_from(chunk.len()).unwrap_or(0).to_le_bytes());
    let [(_, gap, _), (_, count, _), (_, length, _), (_, kind, _)] = &columns;
    out.extend(columns.iter().map(|&(_, _, width)| u8::try_from(width).unwrap_or(0)));
    out.extend_from_slice(&gap.to_le_bytes());
    for least in [count, length] {
        out.extend_from_slice(&u16::try_from(*least).unwrap_or(0).to_le_bytes());
    }
    out.push(u8::try_from(*kind).unwrap_or(0));
    let mut writer = BitWriter::new(&mut out);
    for (column, least, width) in &columns {
        column.iter().for_each(|value| writer.push(value - least, *width));
    }
    writer.finish();
    out
}

/// Reads chunks until all blocks are described, and calls `visit` for each.
///
/// # Errors
/// `Damaged` if a chunk does not hold together, or the section does not describe exactly so many blocks that fit their
/// pages.
pub(crate) fn parse(fields: &mut Fields<'_>, shape: IndexShape, mut visit: impl FnMut(BlockEntry)) -> Result<()> {
    let IndexShape { blocks, layout, codec, table } = shape;
    let (mut found, mut base, mut filled) = (0u64, 0u64, 0usize);
    for number in 0.. {
        if found == blocks {
            break;
        }
        let start = fields.offset();
        let before = fields.taken().len();
        let wrong = |message: &str| Error::damaged(message).at_offset(start);
        let count = fields.u16("blocks in chunk")?;
        let widths =
            [fields.u8("gap bits")?, fields.u8("count bits")?, fields.u8("length bits")?, fields.u8("kind bits")?];
        let widths = widths.map(u32::from);
        let least_gap = fields.u64("least gap")?;
        let (least_count, least_length) = (fields.u16("least count")?, fields.u16("least length")?);
        let least_kind = fields.u8("least kind")?;
        let too_wide = widths.iter().zip([64, 16, 16, 6]).any(|(&width, greatest)| width > greatest);
        if count == 0 || usize::from(count) > CHUNK || too_wide {
            return Err(wrong("an index chunk's header is not possible"));
        }
        let columns = widths.map(|width| usize::from(count) * width as usize);
        let packed = columns.iter().sum::<usize>();
        let bytes = fields.bytes("packed columns", packed.div_ceil(8), &format_args!("{packed} bits"))?;
        let chunk = fields.taken().get(before..).unwrap_or_default();
        fields.checksum_of(page::checksum(Stream::Index(table), number, chunk))?;
        found += u64::from(count);
        if found > blocks {
            return Err(wrong("the index describes more blocks than the table has"));
        }
        let mut position = 0;
        let [mut gaps, mut counts, mut lengths, mut kinds] = columns.map(|column| {
            let reader = Forward::new(bytes, position);
            position += column;
            reader
        });
        for block in found - u64::from(count)..found {
            let gap = least_gap.checked_add(gaps.read(widths[0]));
            let key = gap.and_then(|gap| base.checked_add(gap)).ok_or_else(|| wrong("a block key exceeds 64 bits"))?;
            // Only the last block of the table may end at the greatest key.
            base = key
                .checked_add(codec.step())
                .or((block + 1 == blocks).then_some(0))
                .ok_or_else(|| wrong("keys after the last"))?;
            let count = narrow(least_count, counts.read(widths[1])).filter(|&count| count > 0);
            let kind = u8::try_from(u64::from(least_kind) + kinds.read(widths[3])).ok();
            let kind = kind.and_then(BlockKind::from_number);
            let entry = BlockEntry {
                key,
                count: count.ok_or_else(|| wrong("a block without keys, or with too many"))?,
                length: narrow(least_length, lengths.read(widths[2])).ok_or_else(|| wrong("a block too long"))?,
                kind: kind.ok_or_else(|| wrong("a kind of block that does not exist"))?,
            };
            if !codec.allows(&entry, block + 1 == blocks) {
                return Err(wrong("a block whose kind, count or length its table does not have"));
            }
            filled = if block % layout.blocks as u64 == 0 { 0 } else { filled } + usize::from(entry.length);
            if filled > layout.payload() {
                return Err(wrong("blocks do not fit their page"));
            }
            visit(entry);
        }
        let padding = u32::try_from(bytes.len() * 8 - packed).unwrap_or(0);
        if load_bits(bytes, packed, padding) != 0 {
            return Err(wrong("padding of an index chunk is not zero"));
        }
    }
    fields.end()
}

/// A column's value in 16 bits.
fn narrow(least: u16, excess: u64) -> Option<u16> {
    u16::try_from(u64::from(least) + excess).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8], blocks: u64) -> Result<Vec<BlockEntry>> {
        let mut entries = Vec::new();
        let shape =
            IndexShape { blocks, layout: PageLayout::new(512), codec: IndexCodec::Keys(Codec::Adaptive), table: 1 };
        parse(&mut Fields::new(bytes, 0), shape, |entry| entries.push(entry))?;
        Ok(entries)
    }

    proptest! {
        #[test]
        fn round_trip(mut keys in prop::collection::btree_set(any::<u64>(), 0..700), count in 1u16.., length in 0u16..=511) {
            keys.insert(u64::MAX);
            let entries: Vec<BlockEntry> = keys.into_iter().enumerate().map(|(i, key)| BlockEntry {
                key,
                count: if i % 3 == 0 { count } else { 1 },
                length: if i % 5 == 0 { length } else { 511 },
                kind: if i % 7 == 0 { BlockKind::Flips } else { BlockKind::Gap { low_width: i as u32 % 57 } },
            }).collect();
            let bytes = write(&entries, IndexCodec::Keys(Codec::Adaptive), 1);
            prop_assert_eq!(read(&bytes, entries.len() as u64).unwrap(), entries.clone());
            prop_assert!(read(&bytes, entries.len() as u64 + 1).is_err());
            prop_assert!(read(&bytes, entries.len() as u64 - 1).is_err());
        }

        #[test]
        fn rows_may_begin_alike(heads in prop::collection::vec(prop_oneof![any::<u64>(), Just(7)], 1..700), last in 1u16..=255) {
            let codec = IndexCodec::Rows(16);
            let mut heads = heads;
            heads.sort_unstable();
            let pages = heads.len();
            let entries: Vec<BlockEntry> = heads.into_iter().enumerate().map(|(page, key)| {
                let count = if page + 1 == pages { last } else { 255 };
                BlockEntry { key, count, length: count * 16, kind: BlockKind::Rows }
            }).collect();
            let bytes = write(&entries, codec, 0);
            let read = |blocks| {
                let mut found = Vec::new();
                let shape = IndexShape { blocks, layout: PageLayout { size: 4096, blocks: 1 }, codec, table: 0 };
                parse(&mut Fields::new(&bytes, 0), shape, |entry| found.push(entry)).map(|()| found)
            };
            prop_assert_eq!(read(pages as u64).unwrap(), entries);
            prop_assert!(read(pages as u64 + 1).is_err());
            let (layout, codec) = (PageLayout::new(512), IndexCodec::Keys(Codec::Adaptive));
            let keys = IndexShape { blocks: pages as u64, layout, codec, table: 0 };
            let as_keys = parse(&mut Fields::new(&bytes, 0), keys, |_| ());
            prop_assert!(as_keys.is_err());
        }

        #[test]
        fn hostile_bytes_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 23..400), blocks in 0u64..600) {
            bytes[1] = 0;
            let end = bytes.len() - 4;
            let checksum = page::checksum(Stream::Index(1), 0, &bytes[..end]);
            bytes[end..].copy_from_slice(&checksum.to_le_bytes());
            if let Ok(entries) = read(&bytes, blocks) {
                prop_assert!(entries.windows(2).all(|pair| pair[0].key < pair[1].key));
            }
        }
    }
}
