//! Whole blocks: from the encoder, written by hand, and arbitrary bytes.

use super::decode::plain;
use super::*;
use crate::bits::{BitWriter, low_mask};
use crate::codec::simd;
use proptest::prelude::*;

/// The keys; `None` if the block is damaged.
fn read(code: &FlipsCode, bytes: &[u8], base: u64, count: usize) -> Option<Vec<u64>> {
    let mut keys = vec![0; count];
    let tail = decode(code, bytes, bytes.len() * 8, base, &mut keys);
    let unused = tail.to.and_then(|to| to.checked_sub(tail.from)).filter(|&unused| unused < 8)?;
    let clean = crate::bits::load_bits(bytes, tail.from, unused as u32) == 0;
    (tail.in_range && clean).then_some(keys)
}

/// Families: keys, and others that differ from them in a few bits.
fn families() -> impl Strategy<Value = Vec<u64>> {
    let family = (any::<u64>(), prop::collection::vec(prop::collection::vec(0u32..50, 0..9), 0..20));
    prop::collection::vec(family, 1..60).prop_map(|families| {
        let members = |(key, variants): (u64, Vec<Vec<u32>>)| {
            let key = key >> 6;
            variants.into_iter().map(move |bits| bits.iter().fold(key, |key, bit| key ^ (1 << bit))).chain([key])
        };
        let mut keys: Vec<u64> = families.into_iter().flat_map(members).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    })
}

fn trained(profile: Profile, keys: &[u64]) -> FlipsCode {
    let runs = [(u64::MAX, keys.to_vec())];
    let mut training = Training::new(profile, &runs);
    let mut symbols = Vec::new();
    for _ in 0..2 {
        training.judge(u64::MAX, keys, &mut symbols);
        training.count(&symbols);
        training.again().unwrap();
    }
    training.judge(u64::MAX, keys, &mut symbols);
    training.count(&symbols);
    training.code().unwrap()
}

proptest! {
    #[test]
    fn families_round_trip(keys in families(), dense: bool) {
        let code = trained(if dense { Profile::Dense } else { Profile::Quick }, &keys);
        let sum: u32 = (0..keys.len()).map(|at| cost(&code, u64::MAX, &keys, at)).sum();
        prop_assume!(sum < 1 << 24);
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        encode(&code, u64::MAX, &keys, &mut writer);
        writer.finish();
        prop_assert!(bytes.len() as u32 * 8 <= sum + FRAME + 7);
        prop_assert_eq!(read(&code, &bytes, 0, keys.len()).unwrap(), keys);
    }

    #[test]
    fn any_bytes_are_refused_or_the_code_that_writes_them(
        keys in families(), dense: bool, flips in prop::collection::vec((any::<usize>(), 0u32..8), 0..3),
    ) {
        let mut bytes = Vec::new();
        trained(if dense { Profile::Dense } else { Profile::Quick }, &keys).write(&mut bytes);
        prop_assert!(FlipsCode::parse(&bytes).is_ok(), "a code that the trainer makes");
        for (at, bit) in flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
        }
        if let Ok(code) = FlipsCode::parse(&bytes) {
            let mut again = Vec::new();
            code.write(&mut again);
            prop_assert_eq!(again, bytes);
        }
    }

    #[test]
    fn wide_registers_change_nothing(
        keys in families(), dense: bool, bytes in prop::collection::vec(any::<u8>(), 0..2000),
        odd in 0usize..3000, end in 0usize..16_000, count in 0usize..600, before: u64, low in 0u32..64,
    ) {
        let code = trained(if dense { Profile::Dense } else { Profile::Quick }, &keys);
        let before = before & low_mask(low);
        let mut lanes = Lanes { symbols: [8, odd], values: end.min(bytes.len() * 8), done: 0, damaged: false };
        let [mut slow, mut fast] = [0, 1].map(|_| vec![0u64; count]);
        let mut plain_lanes = lanes.clone();
        let expected = plain(&code, &bytes, before, &mut slow, &mut plain_lanes, count);
        let ready = code.quick || plain(&code, &bytes, before, &mut fast, &mut lanes, BACKS.min(count));
        if ready {
            simd::flips(&code, &bytes, before, &mut fast, &mut lanes);
        }
        let found = ready && plain(&code, &bytes, before, &mut fast, &mut lanes, count);
        prop_assert_eq!((found, &lanes), (expected, &plain_lanes));
        prop_assert_eq!(&fast[..lanes.done], &slow[..lanes.done]);
        prop_assert_eq!(simd::ascending(&slow), crate::codec::near::ascending(&slow));
    }
}
