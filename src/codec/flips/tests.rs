//! Whole blocks: those that the encoder writes, those written by hand, and any bytes.

use super::decode::plain;
use super::symbols::{LENGTHS, flips, grouped};
use super::*;
use crate::bits::{BitWriter, low_mask};
use crate::codec::simd;
use proptest::prelude::*;

/// A code of five-bit words: all plain gaps and a few flips. With `five` it is a dense one.
fn by_hand(five: bool) -> FlipsCode {
    let last = if five { flips(0, 5, 10) } else { flips(0, 1, 40) };
    let others = [flips(0, 1, 3), flips(0, 2, 3), flips(0, 2, 63), flips(usize::from(five), 1, 4), last];
    let mut symbols: Vec<usize> = (0..LENGTHS).chain(others).collect();
    symbols[LENGTHS..].sort_unstable();
    FlipsCode::new(symbols.iter().map(|&symbol| (symbol as u16, 5)).collect(), 0).unwrap()
}

/// A symbol's word, and its length 32 bits above it.
fn slot(code: &FlipsCode, symbol: usize) -> u64 {
    let encoder = code.encoder();
    u64::from(encoder.words[symbol]) | u64::from(encoder.choice.lengths[symbol]) << 32
}

/// A block of these symbols and values, `shift` added to where the second lane is said to begin.
fn block(code: &FlipsCode, keys: &[(usize, u64, u32)], shift: u8, padding: u64) -> Vec<u8> {
    let push = |writer: &mut BitWriter<'_>, symbol: usize| {
        let word = slot(code, symbol);
        writer.push(word & 0xffff_ffff, (word >> 32) as u32);
    };
    let mut even = Vec::new();
    let mut lane = BitWriter::new(&mut even);
    keys.iter().step_by(2).for_each(|key| push(&mut lane, key.0));
    lane.finish();
    let mut out = vec![even.len() as u8 + shift];
    out.extend(even);
    let mut writer = BitWriter::new(&mut out);
    keys.iter().skip(1).step_by(2).for_each(|key| push(&mut writer, key.0));
    let bits: u32 = keys.iter().map(|key| key.2).sum();
    writer.push(padding, (8 - (writer.written() as u32 + bits) % 8) % 8);
    keys.iter().rev().for_each(|key| writer.push(key.1, key.2));
    writer.finish();
    out
}

/// The keys; `None` if the block is damaged.
fn read(code: &FlipsCode, bytes: &[u8], base: u64, count: usize) -> Option<Vec<u64>> {
    let mut keys = vec![0; count];
    let tail = decode(code, bytes, bytes.len() * 8, base, &mut keys);
    let unused = tail.to.and_then(|to| to.checked_sub(tail.from)).filter(|&unused| unused < 8)?;
    let clean = crate::bits::load_bits(bytes, tail.from, unused as u32) == 0;
    (tail.in_range && clean).then_some(keys)
}

#[test]
fn written_by_hand() {
    let code = by_hand(true);
    assert!(!code.quick);
    // A gap of upper halves of two bits, 2 + 1, and a lower half of 5; from there one flip, bit 3; then the bits 3 and
    // 1; from the key before that one bit 4; then the bits 10, 3, 2, 1, 0.
    let first = (2, 1 << 32 | 5, 33);
    let keys = [first, (flips(0, 1, 3), 0, 0), (flips(1, 1, 4), 0, 0), (flips(0, 5, 10), 0, 8)];
    let expected = [3 << 32 | 5, 3 << 32 | 13, 3 << 32 | 21, 3 << 32 | ((21 ^ 15) + 1024)];
    assert_eq!(read(&code, &block(&code, &keys, 0, 0), 0, 4).unwrap(), expected.map(|key: u64| key - (1 << 32)));
    assert_eq!(read(&code, &block(&code, &keys, 0, 0), 1 << 32 | 1, 4).unwrap()[0], 4 << 32 | 5);
    // C(10, 4) is 210.
    let with = |key| [first, (flips(0, 1, 3), 0, 0), (flips(1, 1, 4), 0, 0), key];
    assert!(read(&code, &block(&code, &with((flips(0, 5, 10), 209, 8)), 0, 0), 0, 4).is_some());
    assert!(read(&code, &block(&code, &with((flips(0, 5, 10), 210, 8)), 0, 0), 0, 4).is_none());
    // One key comes too early to be the second after another one.
    assert!(read(&code, &block(&code, &[(flips(1, 1, 4), 0, 0)], 0, 0), 9, 1).is_none());
    assert_eq!(read(&code, &block(&code, &[(flips(0, 1, 3), 0, 0)], 0, 0), 5, 1).unwrap(), [12]);
}

#[test]
fn what_no_encoder_writes() {
    let code = by_hand(false);
    assert!(code.quick);
    let gap = (0, 5, 32);
    let good = [gap, (flips(0, 2, 3), 1, 2), (0, 40, 32)];
    let base = 1 << 40 | 1;
    let bytes = block(&code, &good, 0, 0);
    assert_eq!(read(&code, &bytes, base, 3).unwrap(), [1 << 40 | 5, 1 << 40 | 15, 1 << 40 | 40]);
    assert!(read(&code, &bytes, base, 2).is_none(), "a key too few");
    assert!(read(&code, &bytes, base, 4).is_none(), "a key too many");
    assert!(read(&code, &bytes[..bytes.len() - 1], base, 3).is_none(), "a byte too few");
    assert!(read(&code, &block(&code, &good, 1, 0), base, 3).is_none(), "a second lane that begins too late");
    assert!(read(&code, &block(&code, &good, 0, 1), base, 3).is_none(), "padding between lane and values");
    let mut padded = bytes.clone();
    padded[2] |= 0x80;
    assert!(read(&code, &padded, base, 3).is_none(), "padding between the lanes");
    for rank in [0, 1, 2, 3] {
        let bytes = block(&code, &[gap, (flips(0, 2, 3), rank, 2)], 0, 0);
        assert_eq!(read(&code, &bytes, base, 2).is_some(), rank < 3, "rank {rank}");
    }
    assert!(read(&code, &block(&code, &[gap, (0, 5, 32)], 0, 0), base, 2).is_none(), "equal keys");
    assert!(read(&code, &block(&code, &[gap], 0, 0), base + 5, 1).is_none(), "below the base");
    assert!(
        read(&code, &block(&code, &[(26, 0, 57), (26, u64::MAX >> 7, 57)], 0, 0), u64::MAX << 58, 2).is_none(),
        "around"
    );
    assert!(read(&code, &[], 0, 1).is_none() && read(&code, &[9], 0, 1).is_none());
    assert!(read(&code, &[], 0, 0).unwrap().is_empty());
}

#[test]
fn codes_that_cannot_be() {
    let coded = |symbols: &[usize], group: u32| {
        let lengths = symbols.iter().map(|&symbol| (symbol as u16, 5)).collect();
        FlipsCode::new(lengths, group).map(|_| ())
    };
    let with = |others: [usize; 5]| (0..LENGTHS).chain(others).collect::<Vec<_>>();
    let sound = [1, 2, 3, 4, 5].map(|top| flips(0, 1, top));
    assert!(coded(&with(sound), 0).is_ok());
    assert!(coded(&with(sound), 0x3f).is_err(), "six biased bits");
    assert!(coded(&with(sound)[1..], 0).is_err(), "a plain gap without a code");
    assert!(coded(&with(sound)[..31], 0).is_err(), "not complete");
    assert!(
        coded(&with([flips(0, 2, 0), sound[1], sound[2], sound[3], sound[4]]), 0).is_err(),
        "two flips from bit 0 on"
    );
    for (group, value, sound) in [(0, 0, false), (1, 0, true), (1, 1, true), (1, 2, false), (0x1f, 31, true)] {
        let others = [grouped(3, value), flips(0, 1, 2), flips(0, 1, 3), flips(0, 1, 4), flips(0, 1, 5)];
        assert_eq!(coded(&with(others), group).is_ok(), sound, "{group} {value}");
    }
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
        training = Training::again(&training.code().unwrap(), profile);
    }
    training.judge(u64::MAX, keys, &mut symbols);
    training.count(&symbols);
    training.code().unwrap()
}

/// Decodes without wide registers: where everything stands in the end.
fn plain_only(code: &FlipsCode, bytes: &[u8], start: &Lanes, before: u64, keys: &mut [u64]) -> (bool, Lanes) {
    let mut lanes = start.clone();
    let count = keys.len();
    (plain(code, bytes, before, keys, &mut lanes, count), lanes)
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
    fn codes_round_trip(keys in families(), dense: bool) {
        let code = trained(if dense { Profile::Dense } else { Profile::Quick }, &keys);
        let mut bytes = Vec::new();
        code.write(&mut bytes);
        let mut again = Vec::new();
        FlipsCode::parse(&bytes).unwrap().write(&mut again);
        prop_assert_eq!(&again, &bytes);
        bytes.push(0);
        prop_assert!(FlipsCode::parse(&bytes).is_err());
        bytes.truncate(bytes.len() - 2);
        prop_assert!(FlipsCode::parse(&bytes).is_err());
    }

    #[test]
    fn any_bytes_are_refused_or_the_code_that_writes_them(keys in families(), flips in prop::collection::vec((any::<usize>(), 0u32..8), 0..3)) {
        let mut bytes = Vec::new();
        trained(Profile::Dense, &keys).write(&mut bytes);
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
        let expected = plain_only(&code, &bytes, &lanes, before, &mut slow);
        let ready = code.quick || plain(&code, &bytes, before, &mut fast, &mut lanes, BACKS.min(count));
        if ready {
            simd::flips(&code, &bytes, before, &mut fast, &mut lanes);
        }
        let found = ready && plain(&code, &bytes, before, &mut fast, &mut lanes, count);
        prop_assert_eq!((found, &lanes), (expected.0, &expected.1));
        prop_assert_eq!(&fast[..lanes.done], &slow[..lanes.done]);
        prop_assert_eq!(simd::ascending(&slow), ascending(&slow));
    }
}
