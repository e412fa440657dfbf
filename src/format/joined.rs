//! Numbers up to a common greatest one, packed (format-spec/ids.md, "Packing of ids").
//!
//! Several join into one mixed-radix number, so that a range that is no power of two wastes only a fraction of a bit a
//! number.

use crate::bits::{BitWriter, bit_length, load_bits};
use crate::error::{Error, Result};

/// Most numbers joined into one.
pub(super) const MAX_JOINED: u32 = 5;

/// How numbers are joined and packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packing {
    /// Numbers that one joins.
    pub(super) joined: u32,
    /// Bits of a joined number.
    pub(super) bits: u32,
}

impl Packing {
    /// The packing with the fewest bits a number for numbers up to `span`; the shortest of equal ones.
    pub(super) fn best(span: u64) -> Self {
        let mut best = Self { joined: 1, bits: bit_length(span) };
        for joined in 2..=MAX_JOINED {
            match Self::of(span, joined) {
                Some(packing) if packing.bits * best.joined < best.bits * joined => best = packing,
                _ => {}
            }
        }
        best
    }

    /// Joins numbers up to `span` into one, if it has at most 128 bits.
    fn of(span: u64, joined: u32) -> Option<Self> {
        // The greatest number is radix^joined - 1; this sum computes it without leaving 128 bits.
        let radix = u128::from(span) + 1;
        let mut greatest = 0u128;
        for _ in 0..joined {
            greatest = greatest.checked_mul(radix)?.checked_add(u128::from(span))?;
        }
        Some(Self { joined, bits: 128 - greatest.leading_zeros() })
    }

    /// A bound of the bits of `count` numbers.
    pub(super) fn at_most(self, count: usize) -> usize {
        (count + MAX_JOINED as usize) * self.bits.div_ceil(self.joined) as usize
    }

    /// Bits of `count` numbers.
    pub(super) fn length(self, count: usize) -> usize {
        count.div_ceil(self.joined as usize) * self.bits as usize
    }
}

/// Appends numbers up to `span`.
pub(super) fn write(mut numbers: impl Iterator<Item = u64>, span: u64, out: &mut BitWriter<'_>) {
    let (packing, radix) = (Packing::best(span), u128::from(span) + 1);
    while let Some(first) = numbers.next() {
        let (mut number, mut factor) = (u128::from(first), 1);
        for next in numbers.by_ref().take(packing.joined as usize - 1) {
            factor *= radix;
            number += u128::from(next) * factor;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the low and the high half")]
        let (low, high) = (number as u64, (number >> 64) as u64);
        out.push(low, packing.bits.min(64));
        out.push(high, packing.bits.saturating_sub(64));
    }
}

/// Packed numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined<'a> {
    pub(super) bytes: &'a [u8],
    /// The first bit.
    pub(super) start: usize,
    pub(super) span: u64,
    pub(super) packing: Packing,
}

impl<'a> Joined<'a> {
    /// The numbers from the one with this index on. Their end is the caller's concern.
    #[inline]
    pub(super) fn from(&self, index: usize) -> Numbers<'a> {
        let joined = self.packing.joined as usize;
        // A number that joins one is taken as it stands, which reveals one beyond the span.
        let radix = if joined == 1 { 0 } else { self.span.wrapping_add(1) };
        let mut numbers = Numbers { joined: *self, next: index / joined, left: 0, digits: Digits { value: 0, radix } };
        (0..index % joined).for_each(|_| _ = numbers.digit());
        numbers
    }

    /// The bit behind so many numbers.
    pub(super) fn end(&self, count: usize) -> usize {
        self.start + self.packing.length(count)
    }

    /// Checks that none of `count` numbers makes a joined one greater than it may be.
    pub(super) fn check(&self, count: usize) -> Result<()> {
        let joined = self.packing.joined as usize;
        for index in 0..count.div_ceil(joined) {
            let digits = joined.min(count - index * joined);
            let radix = u128::from(self.span) + 1;
            if (0..digits).fold(self.joined(index), |value, _| value / radix) != 0 {
                return Err(Error::damaged("a number is greater than the ids that it joins"));
            }
        }
        Ok(())
    }

    #[inline]
    fn joined(&self, index: usize) -> u128 {
        let bits = self.packing.bits;
        let position = self.start + index * bits as usize;
        let piece = |from: u32| load_bits(self.bytes, position + from as usize, bits.saturating_sub(from).min(32));
        let low = u128::from(piece(0) | (piece(32) << 32));
        low | (u128::from(piece(64) | (piece(96) << 32)) << 64)
    }
}

/// Reads packed numbers one after another.
pub(super) struct Numbers<'a> {
    joined: Joined<'a>,
    /// The next joined number.
    next: usize,
    /// How many numbers are left of the last one.
    left: usize,
    digits: Digits,
}

impl Numbers<'_> {
    #[inline]
    fn digit(&mut self) -> u64 {
        if self.left == 0 {
            self.digits.value = self.joined.joined(self.next);
            (self.next, self.left) = (self.next + 1, self.joined.packing.joined as usize);
        }
        self.left -= 1;
        self.digits.next()
    }

    /// The next number.
    ///
    /// # Errors
    /// `Damaged` if it exceeds the span.
    #[inline]
    pub(super) fn next(&mut self) -> Result<u64> {
        match self.digit() {
            digit if digit <= self.joined.span => Ok(digit),
            _ => Err(Error::damaged("an id exceeds its page's range")),
        }
    }
}

/// The numbers that one joins, lowest first.
struct Digits {
    value: u128,
    /// 0 stands for 2^64: the value is one digit.
    radix: u64,
}

impl Digits {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "remainders of a 64-bit divisor; values below 2^64")]
    fn next(&mut self) -> u64 {
        let digit;
        if self.radix == 0 {
            (digit, self.value) = (self.value as u64, self.value >> 64);
        } else if self.value >> 64 == 0 {
            let value = self.value as u64;
            (digit, self.value) = (value % self.radix, u128::from(value / self.radix));
        } else {
            let radix = u128::from(self.radix);
            let quotient = self.value / radix;
            (digit, self.value) = ((self.value - quotient * radix) as u64, quotient);
        }
        digit
    }
}
