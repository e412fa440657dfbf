//! One block: the differences of all keys but the last. The block index holds its kind.

use super::{Codes, flips, gap, xor};
use crate::bits::{BitWriter, load_bits};
use crate::codec::kind::{BlockKind, BlockShape};
use crate::codec::split::{SLACK, Split, Tail};
use crate::error::{Error, Result};

/// Appends a block of `kind` that holds all `keys` but the last.
pub(crate) fn encode_block(codes: &Codes, kind: BlockKind, base: u64, keys: &[u64], out: &mut Vec<u8>) {
    let Some((_, keys)) = keys.split_last() else { return };
    let mut writer = BitWriter::new(out);
    match (codes, kind) {
        (Codes::Adaptive { .. }, BlockKind::Gap { low_width }) => gap::encode(low_width, base, keys, &mut writer),
        (Codes::Adaptive { flips: Some(code) }, _) => flips::encode(code, base.wrapping_sub(1), keys, &mut writer),
        (Codes::Adaptive { flips: None }, _) => {}
        (Codes::Xor(code), _) => xor::encode(code, base.wrapping_sub(1), keys, &mut writer),
    }
    writer.finish();
}

#[derive(Debug, Default)]
pub(crate) struct BlockBuffer {
    keys: Vec<u64>,
    places: Vec<u32>,
}

impl BlockBuffer {
    /// Grows to `count` values. The buffers never shrink, so that they are not filled again for every block.
    #[inline]
    fn reserve(&mut self, count: usize) {
        if self.keys.len() < count || self.places.len() < count {
            self.grow(count);
        }
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        self.keys.resize(count, 0);
        self.places.resize(count, 0);
    }
}

/// Decodes a block. `bytes` begins at the block and may extend past its `length`: the decoder does not interpret the
/// following bytes, but they spare it a slow path at the end. Fails with `Damaged` if no encoder writes these bytes for
/// this shape.
#[inline]
pub(crate) fn decode_block<'a>(
    codes: &Codes,
    bytes: &[u8],
    length: usize,
    shape: BlockShape,
    buffer: &'a mut BlockBuffer,
) -> Result<&'a [u64]> {
    let end = length.min(bytes.len()) * 8;
    let coded = shape.count.saturating_sub(1);
    buffer.reserve(coded + SLACK);
    let BlockBuffer { keys, places } = buffer;
    let tail = match (codes, shape.kind) {
        (Codes::Adaptive { .. }, BlockKind::Gap { low_width }) => {
            gap::decode(Split { low_width, bytes, end, base: shape.base, count: coded }, keys, places)
        }
        _ => other_block(codes, bytes, end, shape, keys.get_mut(..coded).unwrap_or_default())?,
    };
    let padding = tail.to.and_then(|to| to.checked_sub(tail.from)).filter(|&unused| unused < 8);
    let Some(padding) = padding else { return Err(damaged("the streams of a block do not fill it")) };
    if load_bits(bytes, tail.from, padding as u32) != 0 {
        return Err(damaged("padding of a block is not zero"));
    }
    let below = match coded.checked_sub(1) {
        Some(last) => keys.get(last).is_some_and(|&key| key < shape.last),
        None => shape.base <= shape.last,
    };
    if !(tail.in_range && below) {
        return Err(damaged("keys of a block are not in ascending order"));
    }
    keys.get_mut(coded).into_iter().for_each(|slot| *slot = shape.last);
    Ok(keys.get(..=coded).unwrap_or_default())
}

/// Decodes a block of another kind than gap; a separate function keeps its code out of the fast path.
#[inline(never)]
fn other_block(codes: &Codes, bytes: &[u8], end: usize, shape: BlockShape, keys: &mut [u64]) -> Result<Tail> {
    match (codes, shape.kind) {
        (Codes::Adaptive { flips: Some(code) }, BlockKind::Flips) => {
            Ok(flips::decode(code, bytes, end, shape.base, keys))
        }
        (Codes::Adaptive { flips: None }, BlockKind::Flips) => {
            Err(damaged("a flips block in a table without a code for it"))
        }
        (Codes::Xor(code), BlockKind::Xor) => Ok(xor::decode(code, bytes, end, shape.base, keys)),
        (_, kind) => Err(Error::damaged(format!("a {kind} block in a table of codec {}", codes.codec()))),
    }
}

#[cold]
fn damaged(message: &'static str) -> Error {
    Error::damaged(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::kind::Codec;
    use crate::codec::{fill_block, train};
    use proptest::prelude::*;

    /// Cuts sorted keys into blocks of at most `budget` bytes and checks that each decodes to the same keys.
    fn round_trip(codec: Codec, keys: &[u64], budget: usize) -> usize {
        let codes = train(codec, keys);
        let (mut rest, mut base, mut size) = (keys, 0, 0);
        while !rest.is_empty() {
            let (kind, count) = fill_block(&codes, base, rest, budget);
            let (block, behind) = rest.split_at(count);
            let mut bytes = Vec::new();
            encode_block(&codes, kind, base, block, &mut bytes);
            assert!(bytes.len() <= budget, "{} bytes of {budget}", bytes.len());
            size += bytes.len();
            let shape = BlockShape { kind, base, last: *block.last().unwrap(), count };
            let mut buffer = BlockBuffer::default();
            let length = bytes.len();
            for slop in [0, 9, 70] {
                bytes.resize(length + slop, 0xa5);
                assert_eq!(decode_block(&codes, &bytes, length, shape, &mut buffer).unwrap(), block);
            }
            base = shape.last.wrapping_add(1);
            rest = behind;
        }
        size
    }

    fn both(mut keys: Vec<u64>, budget: usize) {
        keys.sort_unstable();
        keys.dedup();
        Codec::ALL.into_iter().for_each(|codec| _ = round_trip(codec, &keys, budget));
    }

    #[test]
    fn the_extremes_encode() {
        for budget in [100, 511, 65532] {
            both(vec![], budget);
            both(vec![0], budget);
            both(vec![u64::MAX], budget);
            both(vec![0, u64::MAX], budget);
            both(vec![u64::MAX - 1, u64::MAX], budget);
            both((0..64).map(|bit| 1 << bit).collect(), budget);
            both((0..64).map(|bit| u64::MAX << bit).collect(), budget);
            both((0..100_000).collect(), budget);
            both((0..100_000).map(|i| u64::MAX - i).collect(), budget);
            both((0..16).map(|i| i << 60).chain((0..5000).map(|i| (7 << 60) + 3 * i)).collect(), budget);
        }
    }

    #[test]
    fn consecutive_values_take_about_a_bit() {
        let keys: Vec<u64> = (0..100_000).collect();
        assert!(round_trip(Codec::Adaptive, &keys, 511) < 100_000 / 8 * 11 / 10);
    }

    fn key() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), (any::<u8>(), 0..58u32).prop_map(|(v, s)| u64::from(v) << s), 0..1000u64]
    }

    proptest! {
        #[test]
        fn any_keys_round_trip(keys in prop::collection::vec(key(), 0..2000), budget in 100usize..3000) {
            both(keys, budget);
        }

        #[test]
        fn hostile_bytes_give_an_error_or_ascending_keys(
            bytes in prop::collection::vec(any::<u8>(), 0..600), kind in 0u8..64,
            base in key(), last in key(), count in 1usize..3000,
        ) {
            for codec in Codec::ALL {
                let codes = train(codec, &(0..500u64).map(|i| i * i * i).collect::<Vec<_>>());
                let Some(kind) = BlockKind::from_number(kind) else { return Ok(()) };
                let mut buffer = BlockBuffer::default();
                let shape = BlockShape { kind, base, last, count };
                if let Ok(keys) = decode_block(&codes, &bytes, bytes.len(), shape, &mut buffer) {
                    prop_assert!(keys.windows(2).all(|w| w[0] < w[1]));
                    prop_assert_eq!(keys.len(), count);
                    prop_assert!(keys[0] >= base);
                }
            }
        }
    }
}
