//! Flips-or-gap blocks: for families of near values.
//!
//! Among real fingerprints many sorted neighbours differ in one to eight bits. Such a difference is written as one
//! Huffman symbol, its number of flips and the topmost of them, and the other flipped bits from high to low, each in as
//! many bits as a number below the one before can need. A far neighbour is written as the symbol of its gap's bit length
//! and the bits below the topmost one.
//!
//! Symbols are read forward from the block's beginning, all other bits backward from its end.

use super::block::Tail;
use super::huffman::Code;
use crate::bits::{Backward, BitWriter, Forward, bit_length, low_mask};

/// Symbols of the bit length of a gap (less one), 0 to 64. They always have a code: any key can be written with them.
pub(super) const GAP_LENGTHS: usize = 65;
/// Differences in more bits than this are written as gaps.
pub(super) const MAX_FLIPS: u32 = 8;
/// All symbols: bit lengths, then 64 for each number of flips.
pub(crate) const SYMBOLS: usize = GAP_LENGTHS + 64 * MAX_FLIPS as usize;

/// The symbol of `key` after `previous` as flips, if it can have one.
#[inline]
pub(super) fn flips_symbol(previous: u64, key: u64) -> Option<usize> {
    let xor = previous ^ key;
    let flips = xor.count_ones();
    (1..=MAX_FLIPS).contains(&flips).then(|| {
        let top = bit_length(xor) - 1;
        GAP_LENGTHS + ((flips - 1) * 64 + top) as usize
    })
}

/// The symbol of a gap (less one).
#[inline]
pub(super) fn gap_symbol(gap: u64) -> usize {
    bit_length(gap) as usize
}

/// Bits that follow the symbol of a gap.
#[inline]
pub(super) fn gap_extra(gap: u64) -> u32 {
    bit_length(gap).saturating_sub(1)
}

/// Bits that follow the symbol of flips, for the flipped bits below the topmost one.
#[inline]
pub(super) fn flips_extra(xor: u64) -> u32 {
    let mut extra = 0;
    let mut rest = xor;
    while rest != 0 {
        let top = bit_length(rest) - 1;
        rest &= low_mask(top);
        if rest != 0 {
            extra += position_width(top);
        }
    }
    extra
}

/// Bits that a bit number below `top` is written in.
#[inline]
fn position_width(top: u32) -> u32 {
    bit_length(u64::from(top.saturating_sub(1)))
}

/// Size in bits of `key` after `previous`, the smaller of both ways.
#[inline]
pub(super) fn cost(code: &Code, previous: u64, key: u64) -> u32 {
    let gap = key.wrapping_sub(previous).wrapping_sub(1);
    let as_gap = code.length(gap_symbol(gap)).unwrap_or(0) + gap_extra(gap);
    let as_flips = flips_symbol(previous, key)
        .and_then(|symbol| code.length(symbol))
        .map(|length| length + flips_extra(previous ^ key));
    as_flips.map_or(as_gap, |flips| flips.min(as_gap))
}

/// The symbol that is cheaper for `key` after `previous`; flips where both cost the same.
pub(super) fn cheaper_symbol(code: &Code, previous: u64, key: u64) -> usize {
    let gap = key.wrapping_sub(previous).wrapping_sub(1);
    let as_gap = code.length(gap_symbol(gap)).unwrap_or(0) + gap_extra(gap);
    flips_symbol(previous, key)
        .filter(|&symbol| code.length(symbol).is_some_and(|length| length + flips_extra(previous ^ key) <= as_gap))
        .unwrap_or_else(|| gap_symbol(gap))
}

/// Appends the keys after `previous` and fills up to a whole byte, between the two streams.
pub(super) fn encode(code: &Code, previous: u64, keys: &[u64], writer: &mut BitWriter<'_>) {
    let mut previous = previous;
    let mut raw: Vec<(u64, u32)> = Vec::with_capacity(keys.len());
    let mut raw_bits = 0;
    let mut push = |value: u64, count: u32| {
        raw.push((value, count));
        raw_bits += u64::from(count);
    };
    for &key in keys {
        let symbol = cheaper_symbol(code, previous, key);
        let (word, length) = code.word(symbol);
        writer.push(word, length);
        if symbol < GAP_LENGTHS {
            let gap = key.wrapping_sub(previous).wrapping_sub(1);
            push(gap & low_mask(gap_extra(gap)), gap_extra(gap));
        } else {
            let mut rest = previous ^ key;
            let mut top = bit_length(rest) - 1;
            rest &= low_mask(top);
            while rest != 0 {
                let position = bit_length(rest) - 1;
                push(u64::from(position), position_width(top));
                top = position;
                rest &= low_mask(top);
            }
        }
        previous = key;
    }
    let padding = (8 - (writer.written() + raw_bits) % 8) % 8;
    writer.push(0, u32::try_from(padding).unwrap_or(0));
    raw.iter().rev().for_each(|&(value, count)| writer.push(value, count));
}

/// Reads one key of at least `base` a slot; `end` = the block's end in bits.
pub(super) fn decode(code: &Code, bytes: &[u8], end: usize, base: u64, keys: &mut [u64]) -> Tail {
    let mut symbols = Forward::new(bytes, 0);
    let mut raw = Backward::new(bytes, end);
    // The lowest key that may come; before a table's first key it is 0 and the key before it counts as all ones.
    let mut next = base;
    let mut in_range = true;
    for slots in keys.chunks_mut(4) {
        symbols.refill();
        for slot in slots {
            let (symbol, length) = code.decode(symbols.peek());
            symbols.skip(length);
            let previous = next.wrapping_sub(1);
            let (key, legal) = if symbol < GAP_LENGTHS as u32 {
                let gap = match symbol {
                    0 => 0,
                    length => raw.read(length - 1) | (1 << (length - 1)),
                };
                let (key, overflow) = next.overflowing_add(gap);
                (key, !overflow)
            } else {
                let (xor, legal) = read_flips(&mut raw, symbol - GAP_LENGTHS as u32);
                let key = previous ^ xor;
                (key, legal & (key >= next))
            };
            in_range &= legal & (key != u64::MAX);
            *slot = key;
            next = key.wrapping_add(1);
        }
    }
    Tail { from: symbols.position(), to: raw.remaining(), in_range }
}

/// The XOR of a flips symbol (counted from the first of them), and whether its bit numbers descend.
#[inline]
fn read_flips(raw: &mut Backward<'_>, symbol: u32) -> (u64, bool) {
    let mut top = symbol & 63;
    let mut xor = 1 << top;
    let mut legal = true;
    for _ in 0..symbol >> 6 {
        let position = raw.read(position_width(top)) as u32;
        legal &= position < top;
        xor |= 1 << (position & 63);
        top = position & 63;
    }
    (xor, legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_count_flips_and_name_the_topmost() {
        assert_eq!(flips_symbol(0, 1), Some(GAP_LENGTHS));
        assert_eq!(flips_symbol(0b0100, 0b1001), Some(GAP_LENGTHS + 2 * 64 + 3));
        assert_eq!(flips_symbol(0, 0x1ff), None);
        assert_eq!((gap_symbol(0), gap_symbol(1), gap_symbol(u64::MAX)), (0, 1, 64));
    }

    #[test]
    fn a_lower_flip_takes_the_bits_that_a_number_below_the_higher_one_can_need() {
        assert_eq!([0, 1, 2, 3, 4, 5, 33, 63].map(position_width), [0, 0, 1, 2, 2, 3, 6, 6]);
        assert_eq!(flips_extra(1 << 63), 0);
        assert_eq!(flips_extra((1 << 63) | (1 << 33) | 1), 6 + 6);
    }
}
