//! The Huffman codes of one table, shared by all its blocks.

use super::gap::GapCode;
use super::huffman::Code;
use super::{Codec, FLIPS_SYMBOLS, GAP_SYMBOLS, XOR_SYMBOLS, flips, gap};
use crate::error::{Error, Result};

/// The codes that a table's codec needs.
#[derive(Clone, Debug)]
pub(crate) enum Codes {
    /// Symbol: position of the topmost differing bit.
    Xor(Code),
    /// Codes of the two kinds of block of [`Codec::Adaptive`].
    Adaptive {
        /// High parts of split gaps.
        gap: GapCode,
        /// Flips, or the length of a gap.
        flips: Code,
    },
}

impl Codes {
    /// The codec that these codes belong to.
    pub(crate) fn codec(&self) -> Codec {
        match self {
            Self::Xor(_) => Codec::Xor,
            Self::Adaptive { .. } => Codec::Adaptive,
        }
    }

    /// Bytes of memory of the decoding tables.
    pub(crate) fn resident_bytes(&self) -> u64 {
        match self {
            Self::Xor(code) => code.resident_bytes(),
            Self::Adaptive { gap, flips } => gap.resident_bytes() + flips.resident_bytes(),
        }
    }

    /// The alphabets of a codec in the order of the file: how many symbols each has.
    pub(crate) fn alphabets(codec: Codec) -> &'static [usize] {
        match codec {
            Codec::Xor => &[XOR_SYMBOLS],
            Codec::Adaptive => &[GAP_SYMBOLS, FLIPS_SYMBOLS],
        }
    }

    /// The code lengths of all alphabets in the order of the file.
    pub(crate) fn lengths(&self) -> Vec<&[u8]> {
        match self {
            Self::Xor(code) => vec![code.lengths()],
            Self::Adaptive { gap, flips } => vec![gap.code.lengths(), flips.lengths()],
        }
    }

    /// The codes with these lengths, one list an alphabet.
    ///
    /// # Errors
    /// `Damaged` if a code is not legal, or lacks a symbol without which some key could not be written.
    pub(crate) fn from_lengths(codec: Codec, lengths: &[&[u8]]) -> Result<Self> {
        let complete = |lengths: &[u8], needed: usize, symbols: usize| {
            if lengths.len() != symbols || lengths.iter().take(needed).any(|&length| length == 0) {
                return Err(Error::damaged("a symbol that has to have a code has none"));
            }
            Code::from_lengths(lengths)
        };
        match (codec, lengths) {
            (Codec::Xor, [only]) => Ok(Self::Xor(complete(only, XOR_SYMBOLS, XOR_SYMBOLS)?)),
            (Codec::Adaptive, [gap, flips]) => Ok(Self::Adaptive {
                gap: complete(gap, gap::SYMBOLS, gap::SYMBOLS)?.into(),
                flips: complete(flips, flips::GAP_LENGTHS, flips::SYMBOLS)?,
            }),
            _ => Err(Error::damaged(format!("{} codes are not what codec {codec} has", lengths.len()))),
        }
    }
}
