//! Split gap blocks: for keys that lie about evenly.
//!
//! The gap to the key before, less one, is cut in two: its `low_width` low bits are packed one after another, so that
//! they need no decoding at all, and the high part, a small number, is Huffman-coded. The width is chosen per block.
//!
//! High parts below [`DIRECT`] are symbols of their own. A larger one is written as the symbol of its bit length and the
//! bits below its topmost one.

use super::block::Tail;
use super::huffman::Code;
use crate::bits::{BitWriter, Forward, bit_length, load_bits, low_mask};

/// High parts below this are symbols of their own.
const DIRECT: u64 = 32;
/// Bit length of the smallest high part that is not.
const FIRST_LENGTH: u32 = 6;
/// The direct symbols and one for each longer bit length, 6 to 64.
pub(crate) const SYMBOLS: usize = 32 + 59;
/// Widest low part: what one unaligned 64-bit load delivers at any bit offset.
pub(crate) const MAX_LOW_WIDTH: u32 = 56;

/// The symbol of a high part and the number of bits that follow it (0 to 63), its lowest ones.
#[inline]
pub(crate) fn symbol(high: u64) -> (usize, u32) {
    if high < DIRECT {
        (high as usize, 0)
    } else {
        let length = bit_length(high);
        ((length - FIRST_LENGTH) as usize + DIRECT as usize, length - 1)
    }
}

/// Size in bits of a gap at a low width.
#[inline]
pub(super) fn cost(code: &Code, gap: u64, low_width: u32) -> u32 {
    let (symbol, extra) = symbol(gap >> low_width);
    low_width + code.length(symbol).unwrap_or(0) + extra
}

/// Appends the keys, the first of which is at least `next`.
pub(super) fn encode(code: &Code, low_width: u32, next: u64, keys: &[u64], writer: &mut BitWriter<'_>) {
    let gaps = || {
        keys.iter().scan(next, |next, &key| {
            let gap = key.wrapping_sub(*next);
            *next = key.wrapping_add(1);
            Some(gap)
        })
    };
    gaps().for_each(|gap| writer.push(gap, low_width));
    for gap in gaps() {
        let high = gap >> low_width;
        let (symbol, extra) = symbol(high);
        let (word, length) = code.word(symbol);
        writer.push(word, length);
        writer.push(high, extra);
    }
}

/// Reads one key of at least `base` a slot; `end` = the block's end in bits.
pub(super) fn decode(code: &Code, low_width: u32, bytes: &[u8], end: usize, base: u64, keys: &mut [u64]) -> Tail {
    let width = low_width as usize;
    let mut reader = Forward::new(bytes, keys.len() * width);
    let mut next = base;
    let mut in_range = true;
    let mut low_position = 0;
    for slots in keys.chunks_mut(4) {
        // Four codes of at most 12 bits fit in one refill.
        reader.refill();
        for slot in slots {
            let (symbol, length) = code.decode(reader.peek());
            reader.skip(length);
            let high = if symbol < DIRECT as u32 { u64::from(symbol) } else { long_high(&mut reader, symbol) };
            let low = load_bits(bytes, low_position, low_width);
            low_position += width;
            let (key, overflow) = next.overflowing_add((high << low_width) | low);
            in_range &= !overflow & (high <= u64::MAX >> low_width) & (key != u64::MAX);
            *slot = key;
            next = key.wrapping_add(1);
        }
    }
    Tail { from: reader.position(), to: Some(end), in_range }
}

/// The high part behind the symbol of a bit length. Leaves the reader refilled.
#[cold]
fn long_high(reader: &mut Forward<'_>, symbol: u32) -> u64 {
    let extra = symbol - DIRECT as u32 + FIRST_LENGTH - 1;
    let high = reader.read(extra.min(63)) | (low_mask(1) << extra.min(63));
    reader.refill();
    high
}
