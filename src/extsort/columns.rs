//! Blocks of items in a run.
//!
//! Each 64-bit word of the items is a column: its values are packed in as many bits as the largest needs.
//!
//! | bytes | |
//! |---|---|
//! | 2 | n, the number of items |
//! | | then for each column: |
//! | 8 | the first value of the first column, or the least value of another one |
//! | 1 | the number of bits b: 0 to 56, or 64 |
//! | ⌈n b / 8⌉ | n differences of b bits: to the value before, or to the least one |
//!
//! The first column ascends, because it has the leading bits of the items' order.

use crate::bits::{BitWriter, bit_length, load, load_bits};
use crate::extsort::item::Item;

/// Most items of a block.
pub(crate) const MOST: usize = 1 << 8;

/// Most bytes of a block of `count` items.
pub(crate) const fn most_bytes<T: Item>(count: usize) -> usize {
    2 + T::WORDS * (9 + 8 * count)
}

/// Appends a block of these items, which ascend: one to [`MOST`].
pub(crate) fn encode<T: Item>(items: &[T], out: &mut Vec<u8>) {
    out.extend_from_slice(&u16::try_from(items.len()).unwrap_or(u16::MAX).to_le_bytes());
    let first = items.first().map_or(0, |item| item.word(0));
    let mut before = first;
    pack(first, items.iter().map(|item| item.word(0).wrapping_sub(std::mem::replace(&mut before, item.word(0)))), out);
    for number in 1..T::WORDS {
        let values = items.iter().map(|item| item.word(number));
        let least = values.clone().min().unwrap_or_default();
        pack(least, values.map(|value| value - least), out);
    }
}

fn pack(least: u64, differences: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
    let mut values = [0; MOST];
    let (mut count, mut ones) = (0, 0);
    for (slot, value) in values.iter_mut().zip(differences) {
        *slot = value;
        ones |= value;
        count += 1;
    }
    let bits = bits_for(ones);
    out.extend_from_slice(&least.to_le_bytes());
    out.push(bits);
    let mut writer = BitWriter::new(out);
    values.iter().take(count).for_each(|&value| writer.push(value, bits.into()));
    writer.finish();
}

/// Bits for values of which these are the ones.
#[expect(clippy::cast_possible_truncation, reason = "at most 64")]
fn bits_for(ones: u64) -> u8 {
    match bit_length(ones) {
        bits @ 0..=56 => bits as u8,
        _ => 64,
    }
}

/// Appends the items of the block that `bytes` begin with, and returns its length; `None` if they hold no whole block.
/// `columns` is scratch space.
pub(crate) fn decode<T: Item>(bytes: &[u8], columns: &mut Vec<u64>, items: &mut Vec<T>) -> Option<usize> {
    let count = usize::from(u16::from_le_bytes(*bytes.first_chunk()?));
    if count == 0 || count > MOST {
        return None;
    }
    columns.clear();
    let mut at = 2;
    for number in 0..T::WORDS {
        let (least, rest) = bytes.get(at..)?.split_first_chunk::<8>()?;
        let (&bits, packed) = rest.split_first()?;
        let length = (count * usize::from(bits)).div_ceil(8);
        if length > packed.len() {
            return None;
        }
        at += 9 + length;
        let mut value = u64::from_le_bytes(*least);
        let differences = Differences { packed, bits: bits.into() };
        match number {
            0 => columns.extend((0..count).map(|number| {
                value = value.wrapping_add(differences.get(number));
                value
            })),
            _ => columns.extend((0..count).map(|number| value.wrapping_add(differences.get(number)))),
        }
    }
    let word = |item: usize, number: usize| columns.get(number * count + item).copied().unwrap_or_default();
    items.extend((0..count).map(|item| T::from_words(|number| word(item, number))));
    Some(at)
}

struct Differences<'a> {
    packed: &'a [u8],
    bits: u32,
}

impl Differences<'_> {
    #[inline]
    fn get(&self, number: usize) -> u64 {
        let position = number * self.bits as usize;
        if self.bits <= 56 { load_bits(self.packed, position, self.bits) } else { load(self.packed, position / 8) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extsort::NumberedRecord;
    use crate::fingerprint::U256;
    use proptest::prelude::*;

    fn agrees<T: Item + std::fmt::Debug>(mut items: Vec<T>) {
        items.sort_unstable();
        let (mut bytes, mut columns, mut decoded) = (Vec::new(), Vec::new(), Vec::<T>::new());
        encode(&items, &mut bytes);
        let length = bytes.len();
        assert!(length <= most_bytes::<T>(items.len()));
        assert!((0..length).all(|length| decode(&bytes[..length], &mut columns, &mut Vec::<T>::new()).is_none()));
        bytes.extend([255; 9]);
        assert_eq!(decode(&bytes, &mut columns, &mut decoded), Some(length));
        assert_eq!(decoded, items);
    }

    proptest! {
        #[test]
        fn items_come_back(
            items in prop::collection::vec(any::<(u64, u64)>(), 1..=MOST),
            shift in 0u32..64,
            other in 0u32..64,
        ) {
            let items: Vec<_> = items.into_iter().map(|(a, b)| (a >> shift, b >> other)).collect();
            agrees(items.clone());
            agrees(items.iter().map(|item| item.0).collect::<Vec<_>>());
            agrees(items.iter().map(|&(fingerprint, id)| NumberedRecord { fingerprint, id }).collect::<Vec<_>>());
            agrees(items.iter().map(|&(high, low)| u128::from(high) << 64 | u128::from(low)).collect::<Vec<_>>());
            agrees(items.iter().map(|&(a, b)| (U256([a, b, !a, !b]), (b, a))).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_decode_to_something(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let mut items = Vec::<(u64, u64)>::new();
            if let Some(length) = decode(&bytes, &mut Vec::new(), &mut items) {
                assert!(length <= bytes.len());
            }
        }
    }

    #[test]
    fn even_fingerprints_with_numbers_take_nine_bytes() {
        let mut items: Vec<NumberedRecord<u64>> = crate::extsort::tests::scattered(1 << 20)
            .zip(0..)
            .map(|(fingerprint, id)| NumberedRecord { fingerprint, id })
            .collect();
        items.sort_unstable();
        let mut bytes = Vec::new();
        items.chunks(MOST).for_each(|items| encode(items, &mut bytes));
        assert!(bytes.len() < items.len() * 9, "{} bytes an item", bytes.len() as f64 / items.len() as f64);
    }
}
