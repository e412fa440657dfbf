//! Numbers of 256 bits.

use super::definition::Fingerprint;
use super::definition::sealed::Sealed;
use std::fmt;

/// An unsigned number of 256 bits: four words, the most significant one first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct U256(pub [u64; 4]);

impl Sealed for U256 {}

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

impl fmt::Debug for U256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{self:x}")
    }
}
