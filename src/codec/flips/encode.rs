use super::choose::value;
use super::code::{Encoder, FlipsCode};
use crate::bits::BitWriter;
use crate::codec::flips::lanes::{SHORT, head};

/// The cost of a key that cannot be written: more bits than any block has.
const IMPOSSIBLE: u32 = 1 << 24;

/// Size in bits of `keys[at]`, the key before the first one being `before`.
#[inline]
pub(in crate::codec) fn cost(code: &FlipsCode, before: u64, keys: &[u64], at: usize) -> u32 {
    code.encoder().choice.cheapest(before, keys, at).map_or(IMPOSSIBLE, |(_, bits)| bits)
}

/// Appends the keys after `before`, all of which the code can write: both lanes, padding, values.
pub(in crate::codec) fn encode(code: &FlipsCode, before: u64, keys: &[u64], writer: &mut BitWriter<'_>) {
    let encoder = code.encoder();
    let symbols: Vec<usize> =
        (0..keys.len()).map(|at| encoder.choice.cheapest(before, keys, at).map_or(0, |(symbol, _)| symbol)).collect();
    let values: Vec<(u64, u32)> =
        symbols.iter().enumerate().map(|(at, &symbol)| value(symbol, encoder.choice.group, before, keys, at)).collect();
    let mut even = Vec::new();
    let mut lane = BitWriter::new(&mut even);
    symbols.iter().step_by(2).for_each(|&symbol| push(encoder, symbol, &mut lane));
    lane.finish();
    let width = if keys.len() <= SHORT { 8 } else { 16 };
    if head(keys.len()) > 0 {
        writer.push(even.len() as u64, width);
    }
    even.iter().for_each(|&byte| writer.push(byte.into(), 8));
    symbols.iter().skip(1).step_by(2).for_each(|&symbol| push(encoder, symbol, writer));
    let bits: u64 = values.iter().map(|&(_, width)| u64::from(width)).sum();
    let padding = (8 - (writer.written() + bits) % 8) % 8;
    writer.push(0, u32::try_from(padding).unwrap_or(0));
    values.iter().rev().for_each(|&(value, width)| writer.push(value, width));
}

fn push(encoder: &Encoder, symbol: usize, writer: &mut BitWriter<'_>) {
    let word = encoder.words.get(symbol).copied().unwrap_or(0);
    let length = encoder.choice.lengths.get(symbol).copied().unwrap_or(0);
    writer.push(word.into(), length.into());
}
