//! What the parameters of a key index say about its keys and sketches (format-spec/keys.md).

use super::fields::Fields;
use crate::error::{Error, Result};

const MOST_KEY_BITS: u8 = 64;
const MOST_SKETCH_BITS: u16 = 8192;
/// Powers of two, so that samples are compared many at a time.
const SAMPLE_BITS: [u8; 5] = [1, 2, 4, 8, 16];

/// The keys of a key index, and the sketches that estimate the similarity of two records.
///
/// A key is a number of 64 bits, of which the index stores the leading ones. A sketch is a row of *samples* of a few
/// bits each; two records of Jaccard similarity J agree in a sample of b bits with probability J + (1 - J) / 2^b (b-bit
/// minwise hashing, Li and König, WWW 2010).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFormat {
    key_bits: u8,
    sketch_bits: u16,
    sample_bits: u8,
}

impl Default for KeyFormat {
    /// Keys of 48 bits, no sketches.
    fn default() -> Self {
        Self { key_bits: Self::KEY_BITS, sketch_bits: 0, sample_bits: 1 }
    }
}

impl KeyFormat {
    /// The default number of bits of a key. Two of 10 million records with 14 keys each share a key by chance once in
    /// 140 million times.
    pub const KEY_BITS: u8 = 48;

    /// Sets how many leading bits of a key are stored: 1 to 64.
    #[must_use]
    pub fn with_key_bits(mut self, key_bits: u8) -> Self {
        self.key_bits = key_bits;
        self
    }

    /// Adds a sketch to each record: `sketch_bits` bits, at most 8192, in samples of `sample_bits` bits: 1, 2,
    /// 4, 8 or 16.
    #[must_use]
    pub fn with_sketch(mut self, sketch_bits: u16, sample_bits: u8) -> Self {
        (self.sketch_bits, self.sample_bits) = (sketch_bits, sample_bits);
        self
    }

    /// Bits of a stored key.
    #[must_use]
    pub fn key_bits(self) -> u8 {
        self.key_bits
    }

    /// Bits of a sketch; 0 if records have none.
    #[must_use]
    pub fn sketch_bits(self) -> u16 {
        self.sketch_bits
    }

    /// Bits of a sample of a sketch.
    #[must_use]
    pub fn sample_bits(self) -> u8 {
        self.sample_bits
    }

    /// Bytes of a sketch: its samples from the lowest bit of the first byte on, without gaps.
    #[must_use]
    pub fn sketch_bytes(self) -> usize {
        usize::from(self.sketch_bits.div_ceil(8))
    }

    /// The stored key: the leading bits as a number.
    #[must_use]
    pub fn stored(self, key: u64) -> u64 {
        key.checked_shr(64 - u32::from(self.key_bits)).unwrap_or(0)
    }

    /// Checks that a store can have this format.
    ///
    /// # Errors
    /// `InvalidInput` that names the number that is not possible.
    pub fn check(self) -> Result<()> {
        let wrong = |message: String, remedy: &'static str| Err(Error::invalid(message).with_remedy(remedy));
        if !(1..=MOST_KEY_BITS).contains(&self.key_bits) {
            return wrong(format!("keys of {} bits are not possible", self.key_bits), "use 1 to 64 bits");
        }
        if self.sketch_bits > MOST_SKETCH_BITS {
            return wrong(format!("sketches of {} bits are not possible", self.sketch_bits), "use 8192 bits at most");
        }
        if !SAMPLE_BITS.contains(&self.sample_bits) {
            return wrong(
                format!("samples of {} bits are not possible", self.sample_bits),
                "use 1, 2, 4, 8 or 16 bits",
            );
        }
        if !self.sketch_bits.is_multiple_of(u16::from(self.sample_bits)) {
            let message = format!(
                "a sketch of {} bits has no whole number of {}-bit samples",
                self.sketch_bits, self.sample_bits
            );
            return wrong(message, "use a multiple");
        }
        Ok(())
    }

    /// Refuses a sketch of another length, or with bits after its last sample.
    pub(crate) fn check_sketch(self, sketch: &[u8]) -> Result<()> {
        let bytes = self.sketch_bytes();
        if sketch.len() != bytes {
            let message = format!("a sketch of {} bytes, where the index has sketches of {bytes}", sketch.len());
            return Err(Error::invalid(message).with_remedy("make sketches as the index was created for them"));
        }
        let rest = u32::from(self.sketch_bits) % 8;
        if rest > 0 && sketch.last().is_some_and(|last| last >> rest != 0) {
            return Err(Error::invalid("a sketch has bits after its last sample"));
        }
        Ok(())
    }

    /// Appends 4 bytes.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.key_bits, self.sample_bits]);
        out.extend_from_slice(&self.sketch_bits.to_le_bytes());
    }

    pub(super) fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        let (key_bits, sample_bits) = (fields.u8("key bits")?, fields.u8("sample bits")?);
        Ok(Self { key_bits, sketch_bits: fields.u16("sketch bits")?, sample_bits })
    }
}
