use super::XOR_SYMBOLS;
use super::flips::FlipsCode;
use super::huffman::Code;
use crate::codec::kind::Codec;
use crate::error::{Error, Result};

#[derive(Clone, Debug)]
pub(crate) enum Codes {
    /// Symbol: position of the topmost differing bit.
    Xor(Code),
    /// The code of flips blocks; gap blocks need no code.
    Adaptive {
        /// `None` if no block of the table is of that kind.
        flips: Option<FlipsCode>,
    },
}

impl Codes {
    pub(crate) fn codec(&self) -> Codec {
        match self {
            Self::Xor(_) => Codec::Xor,
            Self::Adaptive { .. } => Codec::Adaptive,
        }
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        match self {
            Self::Xor(code) => code.resident_bytes(),
            Self::Adaptive { flips } => flips.as_ref().map_or(0, FlipsCode::resident_bytes),
        }
    }

    /// The code's name and the length of each symbol's code word; `None` if the table has no code.
    pub(crate) fn word_lengths(&self) -> Option<(&'static str, Vec<u8>)> {
        match self {
            Self::Xor(code) => Some(("positions", code.lengths().to_vec())),
            Self::Adaptive { flips } => flips.as_ref().map(|flips| ("flips", flips.lengths().collect())),
        }
    }

    /// The code of xor blocks with these lengths; `Damaged` if it is not legal, or a symbol has no code.
    pub(crate) fn xor_from_lengths(lengths: &[u8]) -> Result<Self> {
        if lengths.len() != XOR_SYMBOLS || lengths.contains(&0) {
            return Err(Error::damaged("a symbol that has to have a code has none"));
        }
        Code::from_lengths(lengths).map(Self::Xor)
    }
}
