//! The codes section of a table: the lengths of its Huffman code (format-spec/codes.md).

use super::fields::Fields;
use super::page::{Stream, checksum, seal};
use crate::codec::{Codec, Codes, FlipsCode, XOR_SYMBOLS};
use crate::error::Result;

pub(crate) fn write(codes: &Codes, table: u8) -> Vec<u8> {
    let mut out = Vec::new();
    match codes {
        // The earlier of two symbols stands in the lower four bits.
        Codes::Xor(code) => out.extend(code.lengths().chunks(2).map(|pair| match pair {
            [low, high] => low | (high << 4),
            _ => pair.first().copied().unwrap_or(0),
        })),
        Codes::Adaptive { flips } => {
            let mut bytes = Vec::new();
            flips.iter().for_each(|code| code.write(&mut bytes));
            out.extend_from_slice(&u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes());
            out.extend_from_slice(&bytes);
        }
    }
    seal(&mut out, Stream::Codes(table), 0);
    out
}

pub(crate) fn parse(fields: &mut Fields<'_>, codec: Codec, table: u8) -> Result<Codes> {
    let start = fields.offset();
    let codes = match codec {
        Codec::Xor => {
            let packed = fields.bytes("code lengths", XOR_SYMBOLS / 2, &format_args!("{XOR_SYMBOLS} symbols"))?;
            let lengths: Vec<u8> = packed.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
            Codes::xor_from_lengths(&lengths)
        }
        Codec::Adaptive => {
            let length = fields.u16("length of the flips code")?.into();
            let code = fields.peek(length).filter(|_| length > 0).map(FlipsCode::parse).transpose();
            let symbols = code.as_ref().map_or(0, |code| code.as_ref().map_or(0, |code| code.lengths().count()));
            fields.bytes("flips code", length, &format_args!("{symbols} symbols"))?;
            code.map(|flips| Codes::Adaptive { flips })
        }
    };
    fields.checksum_of(checksum(Stream::Codes(table), 0, fields.taken()))?;
    fields.end()?;
    codes.map_err(|error| error.at_offset(start))
}
