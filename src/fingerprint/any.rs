use super::definition::{Fingerprint, WIDTHS};
use super::words::{Words, from_words, read_words, to_words};
use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A fingerprint of 64, 128 or 256 bits, for code that learns the width at run time.
///
/// Read and printed as hexadecimal digits, a quarter as many as bits. Fingerprints of one width are ordered as numbers.
///
/// ```
/// use fpstore::AnyFingerprint;
/// let fingerprint: AnyFingerprint = "832fe9f6aa2f461a".parse()?;
/// assert_eq!(fingerprint, AnyFingerprint::from(0x832f_e9f6_aa2f_461a_u64));
/// assert_eq!(fingerprint.width(), 64);
/// assert_eq!(AnyFingerprint::from_be_bytes(&fingerprint.to_be_bytes())?, fingerprint);
/// assert_eq!(fingerprint.to_string(), "832fe9f6aa2f461a");
/// # Ok::<(), fpstore::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyFingerprint {
    words: Words,
    width: u32,
}

impl AnyFingerprint {
    /// The widths that there are, in bits.
    #[cfg(feature = "unstable")]
    pub const WIDTHS: [u32; 3] = WIDTHS;

    pub(crate) fn of_words(words: Words, count: usize) -> Self {
        Self { words, width: 64 * u32::try_from(count).unwrap_or(0) }
    }

    /// The fingerprint of 8, 16 or 32 bytes, most significant first.
    ///
    /// # Errors
    /// `InvalidInput` for any other number of bytes.
    pub fn from_be_bytes(bytes: &[u8]) -> Result<Self> {
        let width = u32::try_from(bytes.len()).ok().and_then(|length| length.checked_mul(8));
        let Some(width) = width.filter(|width| WIDTHS.contains(width)) else {
            return Err(Error::invalid(format!("a fingerprint of {} bytes; it has 8, 16 or 32", bytes.len())));
        };
        let bytes: Vec<u8> = bytes.iter().rev().copied().collect();
        Ok(Self { words: read_words(&bytes), width })
    }

    /// The bytes, most significant first; an eighth as many as bits.
    #[must_use]
    pub fn to_be_bytes(self) -> Vec<u8> {
        (0..self.width as usize / 64).flat_map(|number| self.words.word(number).to_be_bytes()).collect()
    }

    /// Number of bits.
    #[must_use]
    pub fn width(self) -> u32 {
        self.width
    }

    /// The fingerprint as a number of its width.
    ///
    /// # Errors
    /// `InvalidInput` if its width is another one.
    pub fn typed<F: Fingerprint>(self) -> Result<F> {
        if self.width != F::WIDTH {
            let message = format!("a fingerprint of {} bits where {} are expected", self.width, F::WIDTH);
            return Err(Error::invalid(message));
        }
        Ok(from_words(self.words))
    }
}

impl<F: Fingerprint> From<F> for AnyFingerprint {
    fn from(fingerprint: F) -> Self {
        Self { words: to_words(fingerprint), width: F::WIDTH }
    }
}

impl FromStr for AnyFingerprint {
    type Err = Error;

    fn from_str(digits: &str) -> Result<Self> {
        let byte = |pair: &[u8]| {
            let digit = |at: usize| pair.get(at).and_then(|&digit| char::from(digit).to_digit(16));
            digit(0).zip(digit(1)).and_then(|(high, low)| u8::try_from(high << 4 | low).ok())
        };
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
        match bytes {
            Some(bytes) if WIDTHS.iter().any(|width| *width as usize == 8 * bytes.len()) => Self::from_be_bytes(&bytes),
            _ => Err(Error::invalid("a fingerprint is written as 16, 32 or 64 hexadecimal digits")),
        }
    }
}

impl fmt::Display for AnyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.width as usize / 64).try_for_each(|number| write!(f, "{:016x}", self.words.word(number)))
    }
}

impl fmt::Debug for AnyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
