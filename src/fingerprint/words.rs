//! Fingerprints whose width is known only at run time, as the log, memtables and writes pass them on.

use super::definition::Fingerprint;

/// A fingerprint of any width: its words, then zeros. Order and equality are those of fingerprints of one width. Not a
/// [`Fingerprint`]: a search with it would be one for 256 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Words([u64; 4]);

impl Words {
    #[inline]
    pub(crate) fn word(&self, number: usize) -> u64 {
        self.0.get(number).copied().unwrap_or(0)
    }
}

#[inline]
pub(crate) fn to_words<F: Fingerprint>(fingerprint: F) -> Words {
    Words(std::array::from_fn(|number| fingerprint.word(number)))
}

#[inline]
pub(crate) fn from_words<F: Fingerprint>(words: Words) -> F {
    F::from_words(|number| words.word(number))
}

/// Appends the first `count` words as one little-endian number.
pub(crate) fn write_words(words: Words, count: usize, out: &mut Vec<u8>) {
    (0..count).rev().for_each(|number| out.extend_from_slice(&words.word(number).to_le_bytes()));
}

/// The words of a little-endian number.
pub(crate) fn read_words(bytes: &[u8]) -> Words {
    let (words, _) = bytes.as_chunks::<8>();
    let word = |number: usize| words.len().checked_sub(number + 1).and_then(|at| words.get(at));
    Words(std::array::from_fn(|number| word(number).map_or(0, |&word| u64::from_le_bytes(word))))
}

/// Evaluates an expression with the fingerprint type of a width.
macro_rules! by_width {
    ($width:expr, $F:ident => $body:expr) => {
        match $width {
            256 => {
                type $F = $crate::U256;
                $body
            }
            128 => {
                type $F = u128;
                $body
            }
            _ => {
                type $F = u64;
                $body
            }
        }
    };
}

pub(crate) use by_width;
