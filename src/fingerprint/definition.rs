//! The widths of fingerprints. All code works on their 64-bit words.

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::hash::Hash;

/// An unsigned number of 64, 128 or 256 bits: `u64`, `u128` or [`crate::U256`].
pub trait Fingerprint: Copy + Ord + Default + Hash + Debug + Send + Sync + sealed::Sealed + 'static {
    /// Number of bits, a multiple of 64.
    const WIDTH: u32;

    /// Makes the number from its 64-bit words, most significant first; `word` returns each.
    #[must_use]
    fn from_words(word: impl FnMut(usize) -> u64) -> Self;

    /// A 64-bit word, 0 = the most significant one; 0 where there is none.
    #[must_use]
    fn word(self, number: usize) -> u64;

    /// The first word of each.
    #[doc(hidden)]
    #[must_use]
    fn leading_words(all: &[Self]) -> Cow<'_, [u64]> {
        all.iter().map(|fingerprint| fingerprint.word(0)).collect()
    }

    /// Number of bits in which two fingerprints differ.
    #[inline]
    #[must_use]
    fn distance(self, other: Self) -> u32 {
        (0..Self::WORDS).map(|number| (self.word(number) ^ other.word(number)).count_ones()).sum()
    }

    /// Number of 64-bit words.
    const WORDS: usize = (Self::WIDTH / 64) as usize;
    /// Number of bytes.
    const BYTES: usize = (Self::WIDTH / 8) as usize;

    /// The number written as little-endian bytes, if there are [`Fingerprint::BYTES`] of them.
    #[inline]
    #[must_use]
    fn from_le_bytes(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        if words.len() != Self::WORDS || !rest.is_empty() {
            return None;
        }
        let word = |number: usize| words.get(Self::WORDS - 1 - number).map_or(0, |&word| u64::from_le_bytes(word));
        Some(Self::from_words(word))
    }

    /// Appends the number as little-endian bytes.
    #[inline]
    fn write_le(self, out: &mut Vec<u8>) {
        (0..Self::WORDS).rev().for_each(|number| out.extend_from_slice(&self.word(number).to_le_bytes()));
    }

    /// `length` (0 to 64) bits from bit `first` on, as a number; bits after the last one are 0.
    #[inline]
    #[must_use]
    fn bits(self, first: u32, length: u32) -> u64 {
        if length == 0 {
            return 0;
        }
        let (number, offset) = ((first / 64) as usize, first % 64);
        let pair = u128::from(self.word(number)) << 64 | u128::from(self.word(number + 1));
        let bits = ((pair << offset) >> 64) as u64;
        bits >> (64 - length.min(64))
    }

    /// The number with one bit flipped; bit 0 is the most significant one.
    #[must_use]
    fn flipped(self, bit: u32) -> Self {
        let flip = |number: usize| if number as u32 == bit / 64 { 1 << (63 - bit % 64) } else { 0 };
        Self::from_words(|number| self.word(number) ^ flip(number))
    }
}

impl Fingerprint for u64 {
    const WIDTH: u32 = 64;

    #[inline]
    fn from_words(mut word: impl FnMut(usize) -> u64) -> Self {
        word(0)
    }

    #[inline]
    fn word(self, number: usize) -> u64 {
        if number == 0 { self } else { 0 }
    }

    fn leading_words(all: &[Self]) -> Cow<'_, [u64]> {
        all.into()
    }
}

impl Fingerprint for u128 {
    const WIDTH: u32 = 128;

    #[inline]
    fn from_words(mut word: impl FnMut(usize) -> u64) -> Self {
        Self::from(word(0)) << 64 | Self::from(word(1))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the upper and the lower half")]
    fn word(self, number: usize) -> u64 {
        match number {
            0 => (self >> 64) as u64,
            1 => self as u64,
            _ => 0,
        }
    }
}

/// An unsigned number of 256 bits: four words, the most significant one first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct U256(pub [u64; 4]);

impl Fingerprint for U256 {
    const WIDTH: u32 = 256;

    #[inline]
    fn from_words(word: impl FnMut(usize) -> u64) -> Self {
        Self(std::array::from_fn(word))
    }

    #[inline]
    fn word(self, number: usize) -> u64 {
        self.0.get(number).copied().unwrap_or(0)
    }
}

impl fmt::LowerHex for U256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|word| write!(f, "{word:016x}"))
    }
}

impl Debug for U256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{self:x}")
    }
}

mod sealed {
    /// Keeps [`super::Fingerprint`] to the widths that the file format knows.
    pub trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for u128 {}
    impl Sealed for super::U256 {}
}

/// The widths of fingerprints, in bits.
pub(crate) const WIDTHS: [u32; 3] = [64, 128, 256];

/// Number of bits in which two fingerprints differ.
#[inline]
#[must_use]
pub fn distance<F: Fingerprint>(a: F, b: F) -> u32 {
    a.distance(b)
}

/// A word with its `length` leading bits set, `length` = 0 to 64.
#[inline]
pub(crate) fn leading_ones(length: u32) -> u64 {
    u64::MAX.checked_shl(64 - length.min(64)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::{from_words, read_words, to_words, write_words};
    use proptest::prelude::*;

    fn agrees<F: Fingerprint>(words: [u64; 4], others: [u64; 4], first: u32, length: u32) {
        let bits = |words: &[u64; 4]| -> Vec<bool> {
            (0..F::WIDTH).map(|bit| words[(bit / 64) as usize] >> (63 - bit % 64) & 1 == 1).collect()
        };
        let (a, b) = (F::from_words(|number| words[number]), F::from_words(|number| others[number]));
        let (a_bits, b_bits) = (bits(&words), bits(&others));
        let differing = a_bits.iter().zip(&b_bits).filter(|(a, b)| a != b).count();
        assert_eq!(a.distance(b) as usize, differing);
        assert_eq!(a.cmp(&b), a_bits.cmp(&b_bits));
        let first = first % F::WIDTH;
        let expected = (first..first + length)
            .fold(0u64, |value, bit| value << 1 | u64::from(a_bits.get(bit as usize).copied().unwrap_or(false)));
        assert_eq!(a.bits(first, length), expected);
        let mut bytes = Vec::new();
        a.write_le(&mut bytes);
        assert_eq!(bytes.len(), F::BYTES);
        assert_eq!(F::from_le_bytes(&bytes), Some(a));
        assert_eq!(F::from_le_bytes(&bytes[1..]), None);
        assert_eq!(from_words::<F>(to_words(a)), a);
        assert_eq!(to_words(a).cmp(&to_words(b)), a.cmp(&b));
        let mut of_words = Vec::new();
        write_words(to_words(a), F::WORDS, &mut of_words);
        assert_eq!((&of_words, read_words(&bytes)), (&bytes, to_words(a)));
        assert_eq!(a.flipped(first).distance(a), 1);
        assert_ne!(a.flipped(first).bits(first, 1), a.bits(first, 1));
    }

    proptest! {
        #[test]
        fn every_width_counts_orders_and_cuts_bits(words: [u64; 4], others: [u64; 4], first in 0u32..256, length in 0u32..=64) {
            agrees::<u64>(words, others, first, length);
            agrees::<u128>(words, others, first, length);
            agrees::<U256>(words, others, first, length);
        }
    }

    #[test]
    fn bytes_are_those_of_the_language() {
        let mut bytes = Vec::new();
        0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10_u128.write_le(&mut bytes);
        assert_eq!(bytes, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10_u128.to_le_bytes());
    }
}
