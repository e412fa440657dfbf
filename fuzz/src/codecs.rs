//! Blocks and codes.

use crate::Take;
use fpstore::Codec;
use fpstore::fuzzing::{Decoder, Shape, TableCodes};
use std::cell::RefCell;
use std::sync::LazyLock;

/// Keys for codes that targets need not contain: families, far keys, and biased keys.
fn samples() -> Vec<Vec<u64>> {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state ^ state >> 29).wrapping_mul(0xbf58476d1ce4e5b9)
    };
    let mut all = Vec::new();
    for (families, members, flips, shift) in [(60, 30, 3, 12), (400, 8, 8, 20), (3000, 1, 0, 4), (20, 100, 2, 40)] {
        let mut keys = Vec::new();
        for _ in 0..families {
            let key = random() >> shift & if shift == 20 { !0x0841_0210 } else { !0 };
            keys.push(key);
            for _ in 1..members {
                keys.push((0..1 + random() % (flips + 1)).fold(key, |key, _| key ^ 1 << (random() % 40)));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        all.push(keys);
    }
    all
}

/// Codes with their sections (of table 0).
pub(crate) static CODES: LazyLock<Vec<(TableCodes, Vec<u8>, Codec)>> = LazyLock::new(|| {
    let with_section = |codes: TableCodes, codec| {
        let section = codes.write(0);
        (codes, section, codec)
    };
    let mut all = vec![with_section(TableCodes::none(), Codec::Adaptive)];
    for keys in samples() {
        for codec in [Codec::Adaptive, Codec::Xor] {
            all.push(with_section(TableCodes::train(codec, &keys), codec));
        }
    }
    all
});

/// A block from bytes: code, kind, count, length after which more bytes follow, base, last key; the section of codes if
/// the code is 255.
pub(crate) struct BlockCase<'a> {
    pub(crate) codes: TableCodes,
    pub(crate) section: Vec<u8>,
    pub(crate) codec: Codec,
    pub(crate) shape: Shape,
    pub(crate) body: &'a [u8],
}

impl<'a> BlockCase<'a> {
    pub(crate) fn take(take: &mut Take<'a>) -> Option<Self> {
        let (code, kind) = (take.u8(), take.u8());
        let (count, after) = (usize::from(take.u16().max(1)), usize::from(take.u8()));
        let (base, last) = (take.u64(), take.u64());
        let (codes, section, codec) = if code == 255 {
            let codec = if kind == 63 { Codec::Xor } else { Codec::Adaptive };
            let mut section = [take.part(), &[0; 4]].concat();
            naive::seal::unit(&mut section, 0x100, 0);
            (TableCodes::parse(&section, codec, 0).ok()?, section, codec)
        } else {
            CODES[usize::from(code) % CODES.len()].clone()
        };
        let body = take.rest();
        let length = body.len().saturating_sub(after);
        Some(Self { codes, section, codec, shape: Shape { kind, base, last, count, length }, body })
    }
}

thread_local! {
    static DECODER: RefCell<Decoder> = RefCell::default();
}

/// Decodes it into memory that still has the keys of earlier blocks.
pub(crate) fn decode(case: &BlockCase<'_>) -> Option<Result<Vec<u64>, fpstore::Error>> {
    DECODER.with_borrow_mut(|decoder| {
        decoder.block(&case.codes, case.body, case.shape).map(|keys| keys.map(<[u64]>::to_vec))
    })
}

/// The decoder refuses any bytes, or returns keys that ascend from the base to the last one, independent of the
/// following bytes.
pub fn block(data: &[u8]) {
    let Some(case) = BlockCase::take(&mut Take(data)) else { return };
    let Some(Ok(keys)) = decode(&case) else { return };
    assert_eq!(keys.len(), case.shape.count);
    assert!(keys[0] >= case.shape.base && keys.last() == Some(&case.shape.last));
    assert!(keys.is_sorted_by(|a, b| a < b));
    // Bytes after the block do not matter.
    let alone = BlockCase { body: &case.body[..case.shape.length], ..case };
    assert_eq!(decode(&alone).unwrap().unwrap(), keys);
    // An encoder writes these keys as a block that decodes to them.
    let mut rest = &keys[..];
    let mut base = alone.shape.base;
    while !rest.is_empty() {
        let (kind, count, bytes) = alone.codes.encode(base, rest, 4092);
        let last = rest[count - 1];
        let shape = Shape { kind, base, last, count, length: bytes.len() };
        let again = DECODER.with_borrow_mut(|decoder| {
            decoder.block(&alone.codes, &bytes, shape).map(|keys| keys.map(<[u64]>::to_vec))
        });
        assert_eq!(again.unwrap().unwrap(), rest[..count]);
        (base, rest) = (last.wrapping_add(1), &rest[count..]);
    }
}

/// Any section is refused, or equals the section written for its code; the same for a flips code alone.
pub fn codes(data: &[u8]) {
    let mut take = Take(data);
    let (mode, table) = (take.u8(), take.u8());
    if mode & 1 == 0 {
        if let Ok(codes) = TableCodes::parse_flips(take.0) {
            let section = codes.write(table);
            assert_eq!(&section[2..section.len() - 4], take.0);
        }
        return;
    }
    let codec = if mode & 2 == 0 { Codec::Adaptive } else { Codec::Xor };
    let mut section = take.rest().to_vec();
    if mode & 4 == 0 {
        section.extend([0; 4]);
        naive::seal::unit(&mut section, 0x100 + u32::from(table), 0);
    }
    if let Ok(codes) = TableCodes::parse(&section, codec, table) {
        assert_eq!(codes.write(table), section);
    }
}
