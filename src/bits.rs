//! Bits in bytes: a writer and a reader.
//!
//! Bit `i` of a bit string is bit `i % 8` of byte `i / 8`; readers take bits from the least significant end
//! (format-spec/conventions.md). A reader never panics and never reads outside its slice: after the end it returns zero
//! bits, and [`Forward::position`] tells the caller.

/// The `count` lowest bits set, `count` = 0 to 64.
#[inline]
pub(crate) fn low_mask(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Number of bits needed to write `value`: 0 for 0, 64 for `u64::MAX`.
#[inline]
pub(crate) const fn bit_length(value: u64) -> u32 {
    64 - value.leading_zeros()
}

/// The eight bytes from `at` on as a little-endian integer; bytes outside the slice count as zero.
#[inline]
pub(crate) fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => load_tail(bytes, at),
    }
}

#[cold]
fn load_tail(bytes: &[u8], at: usize) -> u64 {
    let tail = bytes.get(at..).unwrap_or(&[]);
    tail.iter().rev().fold(0, |value, &byte| (value << 8) | u64::from(byte))
}

/// The `count` bits (0 to 57) from bit `position` on.
#[inline]
pub(crate) fn load_bits(bytes: &[u8], position: usize, count: u32) -> u64 {
    (load(bytes, position >> 3) >> (position & 7)) & low_mask(count)
}

/// Number of ones among `length` bits from bit `start` on.
pub(crate) fn count_ones(bytes: &[u8], start: usize, length: usize) -> usize {
    words(bytes, start, length).map(|(_, word)| word.count_ones() as usize).sum()
}

/// How many of the `length` bits from bit `start` on come before the one bit number `nth`, from 0.
pub(crate) fn find_one(bytes: &[u8], start: usize, length: usize, nth: usize) -> Option<usize> {
    let mut left = nth;
    for (before, word) in words(bytes, start, length) {
        let ones = word.count_ones() as usize;
        if left < ones {
            let cleared = (0..left).fold(word, |word, _| word & word.wrapping_sub(1));
            return Some(before + cleared.trailing_zeros() as usize);
        }
        left -= ones;
    }
    None
}

/// Pieces of `length` bits from bit `start` on, 56 bits or fewer each, and how many bits come before.
fn words(bytes: &[u8], start: usize, length: usize) -> impl Iterator<Item = (usize, u64)> {
    (0..length).step_by(56).map(move |before| {
        let count = u32::try_from(length - before).unwrap_or(56).min(56);
        (before, load_bits(bytes, start + before, count))
    })
}

/// Appends bits to a byte vector, least significant first.
#[derive(Debug)]
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    pending: u128,
    pending_bits: u32,
    written: u64,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, pending: 0, pending_bits: 0, written: 0 }
    }

    /// Appends the `count` lowest bits of `value`, 0 to 64.
    #[inline]
    pub(crate) fn push(&mut self, value: u64, count: u32) {
        self.pending |= u128::from(value & low_mask(count)) << self.pending_bits;
        self.pending_bits += count;
        self.written += u64::from(count);
        if self.pending_bits >= 64 {
            #[expect(clippy::cast_possible_truncation, reason = "the low 64 bits are what is written now")]
            let word = self.pending as u64;
            self.out.extend_from_slice(&word.to_le_bytes());
            self.pending >>= 64;
            self.pending_bits -= 64;
        }
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Fills the last byte with zero bits and flushes.
    pub(crate) fn finish(self) {
        let bytes = self.pending_bits.div_ceil(8) as usize;
        self.out.extend(self.pending.to_le_bytes().into_iter().take(bytes));
    }
}

/// Reads bits from the least significant end up.
///
/// Keeps at least 56 bits at hand after [`Forward::refill`], so that several short codes are taken per refill.
#[derive(Clone, Debug)]
pub(crate) struct Forward<'a> {
    bytes: &'a [u8],
    buffer: u64,
    available: u32,
    next: usize,
}

impl<'a> Forward<'a> {
    pub(crate) fn new(bytes: &'a [u8], position: usize) -> Self {
        let mut reader = Self { bytes, buffer: 0, available: 0, next: position >> 3 };
        reader.refill();
        #[expect(clippy::cast_possible_truncation, reason = "0 to 7")]
        reader.skip((position & 7) as u32);
        reader
    }

    /// Loads at least 56 bits into the buffer.
    #[inline]
    pub(crate) fn refill(&mut self) {
        self.buffer |= load(self.bytes, self.next) << self.available;
        self.next += ((63 - self.available) >> 3) as usize;
        self.available |= 56;
    }

    /// The next bits, not taken yet; those that were refilled and not skipped are valid.
    #[inline]
    pub(crate) fn peek(&self) -> u64 {
        self.buffer
    }

    /// Skips `count` valid bits.
    #[inline]
    pub(crate) fn skip(&mut self, count: u32) {
        self.buffer >>= count;
        self.available -= count;
    }

    /// Takes and returns `count` bits, 0 to 64, refilling before.
    #[inline]
    pub(crate) fn read(&mut self, count: u32) -> u64 {
        if count > 32 {
            let low = self.read(32);
            return low | (self.read(count - 32) << 32);
        }
        self.refill();
        let value = self.buffer & low_mask(count);
        self.skip(count);
        value
    }

    /// Number of the next bit; greater than the slice's number of bits if the caller took too much.
    pub(crate) fn position(&self) -> usize {
        self.next * 8 - self.available as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Vec<(u64, u32)>> {
        prop::collection::vec((any::<u64>(), 0u32..=64).prop_map(|(v, n)| (v & low_mask(n), n)), 0..200)
    }

    proptest! {
        #[test]
        fn forward_reads_what_was_written(values in values()) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            values.iter().for_each(|&(v, n)| writer.push(v, n));
            let written = writer.written();
            writer.finish();
            prop_assert_eq!(bytes.len() as u64, written.div_ceil(8));
            let mut reader = Forward::new(&bytes, 0);
            for &(value, count) in &values {
                prop_assert_eq!(reader.read(count), value);
            }
            prop_assert_eq!(reader.position() as u64, written);
        }
    }

    #[test]
    fn past_the_end_come_zeros_and_the_position_tells() {
        let mut reader = Forward::new(&[0xff], 3);
        assert_eq!(reader.read(64), 0b1_1111);
        assert!(reader.position() > 8);
        assert_eq!(load(&[1, 2], 1), 2);
        assert_eq!(load(&[1, 2], 9), 0);
    }
}
