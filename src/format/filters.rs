//! The head of a file of prefix filters: which tables have one, of which shape, and the hashes of their words
//! (format-spec/filters.md).

use super::fields::{Fields, seal};
use super::footer::Span;
use crate::error::Result;
use crate::plan::filter_shape::FilterShape;

const MAGIC: &[u8; 8] = b"fpfilter";
/// Bytes of the head before its entries.
pub(crate) const FIXED: usize = 8 + 4 + 4 + 2;
const ENTRY: usize = 1 + 1 + 3 + 8 + 8;

/// What is stored of a filter's shape. The rest follows from the number of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SavedShape {
    kind: SavedKind,
    /// Of lines: flipped bits and leading bits. Of a Bloom filter: bits of a prefix, last bits that share a line, bits
    /// that a prefix sets.
    numbers: [u8; 3],
    /// Its 64-bit words.
    pub(crate) words: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SavedKind {
    Lines,
    Bloom,
}

impl SavedShape {
    pub(crate) fn new(shape: FilterShape) -> Self {
        let byte = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        let (kind, numbers) = match shape {
            FilterShape::Lines(shape) => (SavedKind::Lines, [shape.flipped, shape.leading, 0]),
            FilterShape::Bloom(shape) => (SavedKind::Bloom, [shape.prefix, shape.sharing, shape.density.ones]),
        };
        Self { kind, numbers: numbers.map(byte), words: shape.bytes() / 8 }
    }

    pub(crate) fn bytes(self) -> u64 {
        self.words.saturating_mul(8)
    }
}

/// A filter in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SavedFilter {
    /// The number of its table.
    pub(crate) table: u8,
    pub(crate) shape: SavedShape,
    /// Whether the table's keys are spread too unevenly for lines, which it would have otherwise.
    pub(crate) is_skewed: bool,
    /// XXH64 (seed 0) of its words.
    pub(crate) hash: u64,
}

impl SavedFilter {
    /// Whether it is of the same table and has more bits.
    pub(crate) fn is_larger(&self, other: &Self) -> bool {
        self.table == other.table && self.shape.words > other.shape.words
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FiltersHead {
    /// The checksum of the footer of the segment.
    pub(crate) segment: u32,
    /// In the order of their tables; the words of the filters follow the head in the same order.
    pub(crate) filters: Vec<SavedFilter>,
}

impl FiltersHead {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&super::VERSION.to_le_bytes());
        out.extend_from_slice(&self.segment.to_le_bytes());
        // A design has at most 256 tables.
        out.extend_from_slice(&u16::try_from(self.filters.len()).unwrap_or(u16::MAX).to_le_bytes());
        for SavedFilter { table, shape, is_skewed, hash } in &self.filters {
            let kind = match (shape.kind, is_skewed) {
                (SavedKind::Lines, _) => 0,
                (SavedKind::Bloom, false) => 1,
                (SavedKind::Bloom, true) => 2,
            };
            out.extend_from_slice(&[*table, kind]);
            out.extend_from_slice(&shape.numbers);
            out.extend_from_slice(&shape.words.to_le_bytes());
            out.extend_from_slice(&hash.to_le_bytes());
        }
        seal(&mut out);
        out
    }

    /// The length of the head, from its [`FIXED`] first bytes.
    pub(crate) fn length(fixed: &[u8]) -> u64 {
        let count = fixed.last_chunk().map_or(0, |count| u16::from_le_bytes(*count));
        length_of(usize::from(count))
    }

    /// The filters, each with the place of its words.
    pub(crate) fn places(&self) -> impl Iterator<Item = (SavedFilter, Span)> {
        let mut offset = length_of(self.filters.len());
        self.filters.iter().map(move |filter| {
            let span = Span { offset, length: filter.shape.bytes() };
            offset = span.end();
            (*filter, span)
        })
    }

    /// Parses the head of a file of so many bytes.
    pub(crate) fn parse(fields: &mut Fields<'_>, file_length: u64) -> Result<Self> {
        fields.magic(MAGIC)?;
        fields.version()?;
        fields.check_seal(0)?;
        let segment = fields.foreign_checksum("checksum of the segment's footer")?;
        let count = fields.u16("filters")?;
        let (mut filters, mut words) = (Vec::new(), 0u64);
        for _ in 0..count {
            let filter = parse_filter(fields)?;
            if filters.last().is_some_and(|before: &SavedFilter| before.table >= filter.table) {
                return Err(fields.damaged("tables of filters that do not ascend"));
            }
            words = words.saturating_add(filter.shape.words);
            filters.push(filter);
        }
        fields.checksum()?;
        if file_length.checked_sub(fields.offset()) != words.checked_mul(8) {
            return Err(fields.damaged("the filters do not have the length of the file"));
        }
        Ok(Self { segment, filters })
    }
}

/// The length of the head of so many filters.
fn length_of(count: usize) -> u64 {
    (FIXED + count * ENTRY + super::CHECKSUM) as u64
}

fn parse_filter(fields: &mut Fields<'_>) -> Result<SavedFilter> {
    let table = fields.u8("table")?;
    let (kind, is_skewed) = match fields.u8("kind of filter")? {
        0 => (SavedKind::Lines, false),
        1 => (SavedKind::Bloom, false),
        2 => (SavedKind::Bloom, true),
        other => return Err(fields.damaged(format!("there is no kind {other} of filters"))),
    };
    let numbers = match kind {
        SavedKind::Lines => ["flipped bits", "leading bits", "zero"],
        SavedKind::Bloom => ["bits of a prefix", "bits that share a line", "bits that a prefix sets"],
    };
    let numbers = [fields.u8(numbers[0])?, fields.u8(numbers[1])?, fields.u8(numbers[2])?];
    let words = fields.u64("words")?;
    let is_sound = match (kind, numbers) {
        (SavedKind::Lines, [flipped, _, zero]) => (1..=64).contains(&flipped) && zero == 0,
        (SavedKind::Bloom, [prefix, _, ones]) => (1..=64).contains(&prefix) && (2..=4).contains(&ones),
    };
    if !is_sound || words == 0 || words % 8 != 0 {
        return Err(fields.damaged("numbers of a filter that are out of range"));
    }
    let hash = fields.hash("hash of the words")?;
    Ok(SavedFilter { table, shape: SavedShape { kind, numbers, words }, is_skewed, hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> (FiltersHead, u64) {
        let shapes = [(20_000_000, 28), (20_000_000, 64)]
            .map(|(keys, leading)| SavedShape::new(FilterShape::new(keys, leading, Some(1)).unwrap()));
        assert_eq!(shapes.map(|shape| shape.kind), [SavedKind::Lines, SavedKind::Bloom]);
        let filter = |(table, is_skewed): (u8, bool)| {
            let shape = shapes[usize::from(table > 0)];
            SavedFilter { table, shape, is_skewed, hash: 0x0123_4567_89ab_cdef }
        };
        let filters = [(0, false), (1, false), (3, true)].map(filter).to_vec();
        let bytes = filters.iter().map(|filter| filter.shape.bytes()).sum();
        (FiltersHead { segment: 0xdead_beef, filters }, bytes)
    }

    #[test]
    fn what_was_written_is_read() {
        let (head, words) = head();
        let bytes = head.write();
        assert_eq!(FiltersHead::length(&bytes[..FIXED]), bytes.len() as u64);
        let length = bytes.len() as u64 + words;
        assert_eq!(FiltersHead::parse(&mut Fields::new(&bytes, 0), length).unwrap(), head);
        assert!(FiltersHead::parse(&mut Fields::new(&bytes, 0), length - 1).is_err());
    }

    #[test]
    fn a_changed_byte_is_damage() {
        let (head, words) = head();
        let bytes = head.write();
        let length = bytes.len() as u64 + words;
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(FiltersHead::parse(&mut Fields::new(&changed, 0), length).is_err(), "byte {at}");
            assert!(FiltersHead::parse(&mut Fields::new(&bytes[..at], 0), length).is_err(), "{at} bytes");
        }
    }

    #[test]
    fn nonsense_under_a_sound_checksum_is_damage() {
        let (head, words) = head();
        let refused = |change: &dyn Fn(&mut FiltersHead)| {
            let mut wrong = head.clone();
            change(&mut wrong);
            let bytes = wrong.write();
            FiltersHead::parse(&mut Fields::new(&bytes, 0), bytes.len() as u64 + words).is_err()
        };
        assert!(!refused(&|_| ()));
        assert!(refused(&|head| head.filters.swap(0, 1)));
        assert!(refused(&|head| head.filters[1].table = 0));
        assert!(refused(&|head| head.filters[0].shape.words = u64::MAX));
        assert!(refused(&|head| head.filters[0].shape.words -= 1));
        assert!(refused(&|head| head.filters[0].shape.numbers[0] = 65));
        assert!(refused(&|head| head.filters[0].shape.numbers[2] = 1));
        assert!(refused(&|head| head.filters[1].shape.numbers[0] = 0));
        assert!(refused(&|head| head.filters[2].shape.numbers[2] = 5));
    }
}
