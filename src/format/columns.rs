//! Chunks of columns, in which indexes store their numbers (format-spec/segment.md, text-ids.md): the number of rows,
//! each column's width in bits and least value, then the excesses over it, packed column by column.

use super::fields::Fields;
use super::page::{self, Stream};
use crate::bits::{BitWriter, bit_length, load_bits};
use crate::error::{Error, Result};

/// The chunks of one kind of index.
pub(super) struct ChunkShape<const N: usize> {
    /// The name of the number of rows.
    pub(super) rows: &'static str,
    /// Most rows.
    pub(super) most: usize,
    /// For each column its name, the bytes of its least value, and its greatest width.
    pub(super) columns: [(&'static str, usize, u32); N],
    /// The errors of a wrong header, and of wrong padding.
    pub(super) errors: [&'static str; 2],
}

/// The columns of a chunk, read row by row.
pub(super) struct Chunk<'a, const N: usize> {
    pub(super) rows: usize,
    bytes: &'a [u8],
    columns: [Column; N],
}

/// A column from its next value on.
struct Column {
    least: u64,
    width: u32,
    /// The bit at which the next value begins.
    position: usize,
}

impl Column {
    /// The next value, and whether it exceeds 64 bits.
    #[inline]
    fn next(&mut self, bytes: &[u8]) -> (u64, bool) {
        let mut excess = load_bits(bytes, self.position, self.width.min(57));
        if self.width > 57 {
            excess |= load_bits(bytes, self.position + 57, self.width - 57) << 57;
        }
        self.position += self.width as usize;
        self.least.overflowing_add(excess)
    }
}

impl<const N: usize> Chunk<'_, N> {
    /// The next row; `None` if one of its values exceeds 64 bits.
    #[inline]
    pub(super) fn next_row(&mut self) -> Option<[u64; N]> {
        // One flag instead of an `Option` for each value: unpacking an index reads a row for each block.
        let mut exceeds = false;
        let row = self.columns.each_mut().map(|column| {
            let (value, overflows) = column.next(self.bytes);
            exceeds |= overflows;
            value
        });
        (!exceeds).then_some(row)
    }
}

/// A chunk of columns of the same length, without its checksum.
pub(super) fn write<const N: usize>(shape: &ChunkShape<N>, columns: [Vec<u64>; N]) -> Vec<u8> {
    let rows = columns.first().map_or(0, Vec::len);
    let columns = columns.map(|column| {
        let least = column.iter().copied().min().unwrap_or(0);
        let width = bit_length(column.iter().map(|value| value - least).max().unwrap_or(0));
        (column, least, width)
    });
    let mut out = u16::try_from(rows).unwrap_or(0).to_le_bytes().to_vec();
    out.extend(columns.iter().map(|&(_, _, width)| u8::try_from(width).unwrap_or(0)));
    for ((_, least, _), (_, bytes, _)) in columns.iter().zip(shape.columns) {
        out.extend(least.to_le_bytes().into_iter().take(bytes));
    }
    let mut writer = BitWriter::new(&mut out);
    for (column, least, width) in &columns {
        column.iter().for_each(|value| writer.push(value - least, *width));
    }
    writer.finish();
    out
}

/// Reads chunk `number` of a stream and its checksum.
pub(super) fn read<'a, const N: usize>(
    fields: &mut Fields<'a>,
    shape: &ChunkShape<N>,
    stream: Stream,
    number: u64,
) -> Result<Chunk<'a, N>> {
    let (start, before) = (fields.offset(), fields.taken().len());
    let [wrong_header, wrong_padding] = shape.errors;
    let wrong = |message: &str| Error::damaged(message).at_offset(start);
    let rows = usize::from(fields.u16(shape.rows)?);
    let (mut widths, mut leasts) = ([0u32; N], [0; N]);
    for (width, (name, _, _)) in widths.iter_mut().zip(shape.columns) {
        *width = fields.u8(&format!("{name} bits"))?.into();
    }
    for (least, (name, bytes, _)) in leasts.iter_mut().zip(shape.columns) {
        let name = format!("least {name}");
        *least = match bytes {
            1 => fields.u8(&name)?.into(),
            2 => fields.u16(&name)?.into(),
            _ => fields.u64(&name)?,
        };
    }
    let too_wide = widths.iter().zip(shape.columns).any(|(&width, (_, _, greatest))| width > greatest);
    if !(1..=shape.most).contains(&rows) || too_wide {
        return Err(wrong(wrong_header));
    }
    let packed = widths.iter().map(|&width| rows * width as usize).sum::<usize>();
    let bytes = fields.bytes("packed columns", packed.div_ceil(8), &format_args!("{packed} bits"))?;
    let chunk = fields.taken().get(before..).unwrap_or_default();
    fields.checksum_of(page::checksum(stream, number, chunk))?;
    if load_bits(bytes, packed, u32::try_from(bytes.len() * 8 - packed).unwrap_or(0)) != 0 {
        return Err(wrong(wrong_padding));
    }
    let (mut position, mut leasts) = (0, leasts.into_iter());
    let columns = widths.map(|width| {
        let column = Column { least: leasts.next().unwrap_or(0), width, position };
        position += rows * width as usize;
        column
    });
    Ok(Chunk { rows, bytes, columns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::low_mask;
    use proptest::prelude::*;

    const SHAPE: ChunkShape<3> = ChunkShape {
        rows: "rows",
        most: 300,
        columns: [("first", 8, 64), ("second", 2, 16), ("third", 1, 6)],
        errors: ["header", "padding"],
    };

    /// Rows whose values lie within some width of a least one.
    fn rows() -> impl Strategy<Value = Vec<[u64; 3]>> {
        let row = (any::<u64>(), any::<u16>(), 0u8..64).prop_map(|(a, b, c)| [a, u64::from(b), u64::from(c)]);
        let least = prop_oneof![Just(0), any::<u64>()];
        let widths = (prop_oneof![Just(64), 0u32..=64], 0u32..=16, 0u32..=6);
        (prop::collection::vec(row, 1..=SHAPE.most), least, widths).prop_map(|(mut rows, least, (a, b, c))| {
            for row in &mut rows {
                row[0] = least.saturating_add(row[0] & low_mask(a));
                row[1] &= low_mask(b);
                row[2] &= low_mask(c);
            }
            rows
        })
    }

    proptest! {
        #[test]
        fn rows_round_trip(chunks in prop::collection::vec(rows(), 1..4)) {
            let mut bytes = Vec::new();
            for (number, rows) in (0..).zip(&chunks) {
                let columns = [0, 1, 2].map(|column| rows.iter().map(|row| row[column]).collect());
                let mut chunk = write(&SHAPE, columns);
                let widths = [0, 1, 2].map(|column| {
                    let values = rows.iter().map(|row: &[u64; 3]| row[column]);
                    bit_length(values.clone().max().unwrap() - values.min().unwrap()) as usize
                });
                prop_assert_eq!(chunk.len(), 2 + 3 + 11 + (rows.len() * widths.iter().sum::<usize>()).div_ceil(8));
                page::seal(&mut chunk, Stream::IdIndex, number);
                bytes.append(&mut chunk);
            }
            let mut fields = Fields::new(&bytes, 0);
            for (number, rows) in (0..).zip(&chunks) {
                let mut chunk = read(&mut fields, &SHAPE, Stream::IdIndex, number).unwrap();
                prop_assert_eq!(chunk.rows, rows.len());
                for row in rows {
                    prop_assert_eq!(chunk.next_row(), Some(*row));
                }
            }
            prop_assert_eq!(fields.remaining(), 0);
        }
    }

    #[test]
    fn a_value_beyond_64_bits_is_no_row() {
        let mut bytes = write(&SHAPE, [vec![0, u64::MAX, 7], vec![0; 3], vec![0; 3]]);
        bytes[5] = 1;
        page::seal(&mut bytes, Stream::IdIndex, 0);
        let mut chunk = read(&mut Fields::new(&bytes, 0), &SHAPE, Stream::IdIndex, 0).unwrap();
        assert_eq!([0; 3].map(|_| chunk.next_row()), [Some([1, 0, 0]), None, Some([8, 0, 0])]);
    }
}
