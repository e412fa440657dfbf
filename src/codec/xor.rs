//! `xor` blocks: the code of Manku, Jain, Das Sarma, section 3.2.
//!
//! A key is written as its XOR with the key before: the Huffman code of the position of the topmost 1 bit (0 = the most
//! significant), then the bits to the right of it. One stream, read forward.

use super::huffman::Code;
use crate::bits::{BitWriter, Forward, low_mask};
use crate::codec::split::Tail;

/// Positions of the topmost differing bit: 0 is the most significant.
pub(crate) const SYMBOLS: usize = 64;

/// The symbol of a key that follows `previous`, the bits to the right of the differing one, and their number (0 to 63).
#[inline]
pub(crate) fn split(previous: u64, key: u64) -> (usize, u64, u32) {
    let xor = previous ^ key;
    let position = xor.leading_zeros();
    let rest = 63 - position.min(63);
    (position as usize, xor & low_mask(rest), rest)
}

/// Appends the keys after `previous`.
pub(super) fn encode(code: &Code, previous: u64, keys: &[u64], writer: &mut BitWriter<'_>) {
    let mut previous = previous;
    for &key in keys {
        let (symbol, rest, count) = split(previous, key);
        let (word, length) = code.word(symbol);
        writer.push(word, length);
        writer.push(rest, count);
        previous = key;
    }
}

/// Reads one key of at least `base` into each slot; `end` = the block's end in bits.
pub(super) fn decode(code: &Code, bytes: &[u8], end: usize, base: u64, keys: &mut [u64]) -> Tail {
    let mut reader = Forward::new(bytes, 0);
    let mut next = base;
    let mut in_range = true;
    for slot in keys {
        reader.refill();
        let (position, length) = code.decode(reader.peek());
        reader.skip(length);
        let rest = 63 - position.min(63);
        // The refilled bits suffice unless the differing bit is among the topmost.
        let low = if rest <= 56 - length {
            let low = reader.peek() & low_mask(rest);
            reader.skip(rest);
            low
        } else {
            reader.read(rest)
        };
        let key = next.wrapping_sub(1) ^ ((1 << rest) | low);
        in_range &= (key >= next) & (key != u64::MAX);
        *slot = key;
        next = key.wrapping_add(1);
    }
    Tail { from: reader.position(), to: Some(end), in_range }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example() {
        // "11011011 then 11011001" as the leading byte: position 6, then the bits to the right of it.
        let (a, b) = (0b1101_1011 << 56, 0b1101_1001 << 56);
        assert_eq!(split(a, b), (6, 0, 57));
        assert_eq!(split(a, b | 1), (6, 1, 57));
    }
}
