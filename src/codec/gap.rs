//! Split gap blocks: for keys that lie about evenly.
//!
//! The gap to the key before, less one, is cut in two: its `low_width` low bits are packed one after another, so that
//! they need no decoding at all, and the high part, a small number, is Huffman-coded. The width is chosen per block.
//!
//! High parts below [`DIRECT`] are symbols of their own. A larger one is written as the symbol of its bit length and the
//! bits below its topmost one.

use super::block::Tail;
use super::huffman::Code;
use super::runs::{LONGEST, Runs, SYMBOL_LIMIT};
use crate::bits::{BitWriter, Forward, bit_length, load_bits};

/// High parts below this are symbols of their own.
const DIRECT: u64 = 32;
/// Bit length of the smallest high part that is not.
const FIRST_LENGTH: u32 = 6;
/// The direct symbols and one for each longer bit length, 6 to 64.
pub(crate) const SYMBOLS: usize = 32 + 59;
const _: () = assert!(DIRECT == SYMBOL_LIMIT as u64);
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

/// The code of high parts, ready to decode.
#[derive(Clone, Debug)]
pub(crate) struct GapCode {
    pub(super) code: Code,
    runs: Runs,
}

impl GapCode {
    /// Bytes of memory of the encoding and decoding tables.
    pub(super) fn resident_bytes(&self) -> u64 {
        self.code.resident_bytes() + self.runs.resident_bytes()
    }
}

impl From<Code> for GapCode {
    fn from(code: Code) -> Self {
        let runs = Runs::new(&code);
        Self { code, runs }
    }
}

/// Reads one key of at least `base` a slot; `end` = the block's end in bits.
pub(super) fn decode(code: &GapCode, low_width: u32, bytes: &[u8], end: usize, base: u64, keys: &mut [u64]) -> Tail {
    let width = low_width as usize;
    // High parts first, all by themselves: they are what one has to wait for. They stand in the keys' places.
    let from = decode_highs(code, bytes, keys.len() * width, keys);
    let mut low_position = 0;
    let mut highs = 0;
    let mut add_low = |high: u64| {
        highs |= high;
        let low = load_bits(bytes, low_position, low_width);
        low_position += width;
        (high << low_width) | low
    };
    let mut in_range = true;
    if let Some((first, rest)) = keys.split_first_mut() {
        *first = base.wrapping_add(add_low(*first));
        in_range = *first >= base;
        // A sum that leaves 64 bits is not greater than the one before: one comparison a key is enough.
        rest.iter_mut().fold(*first, |previous, slot| {
            *slot = previous.wrapping_add(1).wrapping_add(add_low(*slot));
            in_range &= *slot > previous;
            *slot
        });
    }
    in_range &= highs <= u64::MAX >> low_width;
    Tail { from, to: Some(end), in_range }
}

/// Reads a high part a slot from bit `position` on; returns the stream's end in bits.
fn decode_highs(code: &GapCode, bytes: &[u8], position: usize, highs: &mut [u64]) -> usize {
    let mut reader = Forward::new(bytes, position);
    let mut done = 0;
    'refills: loop {
        reader.refill();
        // Four runs of codes of at most 12 bits fit in one refill.
        for _ in 0..4 {
            let Some(slots) = highs.get_mut(done..).and_then(|rest| rest.first_chunk_mut::<LONGEST>()) else {
                break 'refills;
            };
            let run = code.runs.decode(reader.peek());
            if run.count == 0 {
                slots[0] = single_high(&code.code, &mut reader);
                done += 1;
                break;
            }
            // What is written beyond the run is overwritten by the next one.
            *slots = run.symbols;
            reader.skip(run.bits);
            done += run.count;
        }
    }
    for slot in highs.iter_mut().skip(done) {
        reader.refill();
        *slot = single_high(&code.code, &mut reader);
    }
    reader.position()
}

/// One high part, whatever its symbol; the reader was refilled.
#[inline]
fn single_high(code: &Code, reader: &mut Forward<'_>) -> u64 {
    let (symbol, length) = code.decode(reader.peek());
    reader.skip(length);
    if symbol < DIRECT as u32 { u64::from(symbol) } else { long_high(reader, symbol) }
}

/// The high part behind the symbol of a bit length.
#[cold]
fn long_high(reader: &mut Forward<'_>, symbol: u32) -> u64 {
    let extra = symbol - DIRECT as u32 + FIRST_LENGTH - 1;
    reader.read(extra.min(63)) | (1 << extra.min(63))
}
