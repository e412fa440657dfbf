//! The codes section of a table: the lengths of its Huffman codes, four bits each (format-spec/codes.md).

use super::fields::Fields;
use super::page::{Stream, checksum};
use crate::codec::{Codec, Codes};
use crate::error::Result;

/// The section's bytes. Each alphabet begins at a byte; the earlier of two symbols stands in the lower four bits.
pub(crate) fn write(codes: &Codes, table: u8) -> Vec<u8> {
    let mut out = Vec::new();
    for lengths in codes.lengths() {
        out.extend(lengths.chunks(2).map(|pair| match pair {
            [low, high] => low | (high << 4),
            _ => pair.first().copied().unwrap_or(0),
        }));
    }
    let checksum = checksum(Stream::Codes(table), 0, &out);
    out.extend_from_slice(&checksum.to_le_bytes());
    out
}

/// Reads the section of a table with this codec.
pub(crate) fn parse(fields: &mut Fields<'_>, codec: Codec, table: u8) -> Result<Codes> {
    let mut alphabets = Vec::new();
    for &symbols in Codes::alphabets(codec) {
        let packed = fields.bytes("code lengths", symbols.div_ceil(2), &format_args!("{symbols} symbols"))?;
        let mut lengths: Vec<u8> = packed.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
        if lengths.split_off(symbols).iter().any(|&padding| padding != 0) {
            return Err(fields.damaged("padding of the code lengths is not zero"));
        }
        alphabets.push(lengths);
    }
    fields.checksum_of(checksum(Stream::Codes(table), 0, fields.taken()))?;
    fields.end()?;
    let lengths: Vec<&[u8]> = alphabets.iter().map(Vec::as_slice).collect();
    Codes::from_lengths(codec, &lengths).map_err(|error| error.at_offset(fields.offset()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Trainer;

    #[test]
    fn round_trip() {
        for codec in Codec::ALL {
            let mut trainer = Trainer::new(codec);
            trainer.sample(&(0..5000u64).map(|i| i * i * i).collect::<Vec<_>>());
            let codes = trainer.finish();
            let bytes = write(&codes, 1);
            let read = parse(&mut Fields::new(&bytes, 0), codec, 1).unwrap();
            assert_eq!(read.lengths(), codes.lengths());
            assert!(parse(&mut Fields::new(&bytes, 0), codec, 0).is_err(), "another table's codes");
        }
    }

    #[test]
    fn a_missing_code_is_refused() {
        let mut lengths = [6u8; 64];
        assert!(Codes::from_lengths(Codec::Xor, &[&lengths]).is_ok());
        (lengths[0], lengths[1]) = (5, 0);
        assert!(Codes::from_lengths(Codec::Xor, &[&lengths]).is_err());
    }
}
