//! Blocks that no encoder writes, in a table with codes simple enough to write by hand.

use super::When::Read;
use super::flips;
use super::parts::{Parts, chunk, index};
use super::{accepted, fixture, refused};
use crate::support::*;
use fpstore::{Codec, Design, Parameters, Record, inspect};

pub(super) const ORDER: &str = "keys of a block are not in ascending order";
pub(super) const FILL: &str = "the streams of a block do not fill it";
pub(super) const PADDING: &str = "padding of a block is not zero";

/// Numbers of kinds; those up to 56 are the low widths of gap.
pub(super) const FLIPS: u8 = 62;
const XOR: u8 = 63;

/// The bits of a block.
#[derive(Clone, Default)]
pub(super) struct Body(pub(super) Vec<bool>);

impl Body {
    /// A code word, first digit first.
    pub(super) fn word(mut self, word: u64, digits: u32) -> Self {
        self.0.extend((0..digits).rev().map(|digit| word >> digit & 1 == 1));
        self
    }

    /// A forward value.
    pub(super) fn value(mut self, value: u64, bits: u32) -> Self {
        self.0.extend((0..bits).map(|bit| value >> bit & 1 == 1));
        self
    }

    /// The high part of a gap.
    fn unary(mut self, zeros: usize) -> Self {
        self.0.extend(std::iter::repeat_n(false, zeros));
        self.0.push(true);
        self
    }

    /// A key of a xor block: all codes have six bits.
    fn xor(self, previous: u64, key: u64) -> Self {
        let position = (previous ^ key).leading_zeros();
        self.word(position.into(), 6).value(previous ^ key, 63 - position)
    }

    /// The block's bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.chunks(8).map(|byte| byte.iter().rev().fold(0, |value, &bit| value << 1 | u8::from(bit))).collect()
    }
}

/// Lengths of codes, four bits each.
fn nibbles(lengths: &[u8]) -> Vec<u8> {
    lengths.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4).collect()
}

/// A block: its kind, number of keys, the last one, bytes.
pub(super) type Block = (u8, u16, u64, Vec<u8>);

/// A segment of one table with these blocks.
pub(super) fn segment(codec: Codec, blocks: &[Block]) -> Vec<u8> {
    let codes = match codec {
        Codec::Xor => nibbles(&[6; 64]),
        _ => flips::DENSE.section(),
    };
    segment_with(codec, codes, blocks)
}

/// A segment of one table with these codes and blocks.
pub(super) fn segment_with(codec: Codec, codes: Vec<u8>, blocks: &[Block]) -> Vec<u8> {
    let count: u16 = blocks.iter().map(|block| block.1).sum();
    let records: Vec<Record> = (0..count.into()).map(|fingerprint| Record::new(fingerprint, 1)).collect();
    let design = Design::Tables { parts: 1 };
    let mut parts = Parts::of(&Parameters::new(3).with_design(design).with_codec(codec), &records);
    parts.blocks[0] = blocks.len() as u64;
    parts.sections[0] = blocks.iter().flat_map(|block| block.3.clone()).chain([0; 4]).collect();
    parts.sections[1] = [codes, vec![0; 4]].concat();
    let mut base = 0;
    let entry = |(kind, count, last, bytes): &Block| {
        let gap = last.wrapping_sub(base);
        base = last.wrapping_add(1);
        (gap, *count, bytes.len() as u16, *kind)
    };
    parts.sections[2] = index(&blocks.iter().map(entry).collect::<Vec<_>>());
    parts.bytes()
}

pub(super) fn good(codec: Codec, kind: u8, block: Vec<u8>, keys: &[u64]) {
    let records: Vec<Record> = keys.iter().map(|&fingerprint| Record::new(fingerprint, 1)).collect();
    let bytes = segment(codec, &[(kind, keys.len() as u16, *keys.last().unwrap(), block)]);
    let shown = &keys[keys.len().saturating_sub(4)..];
    accepted(&format!("{codec} {kind} {} keys up to {shown:x?}", keys.len()), &bytes, &records);
}

/// One block of three keys, the last of which is in the index.
pub(super) fn bad(label: &str, kind: u8, block: Vec<u8>, last: u64, message: &str) {
    let codec = if kind == XOR { Codec::Xor } else { Codec::Adaptive };
    refused(label, &segment(codec, &[(kind, 3, last, block)]), Read, message);
}

/// Faults that every kind of block refuses; `block` has two keys, 5 and 9, and `padding` lists its padding bits. If the
/// end of the block is cut off, it is refused with one of the messages `cut`.
pub(super) fn frames(codec: Codec, kind: u8, block: Vec<u8>, padding: &[usize], cut: &[&str]) {
    good(codec, kind, block.clone(), &[5, 9, 20]);
    bad("the last key again", kind, block.clone(), 9, ORDER);
    bad("a key above the last", kind, block.clone(), 8, ORDER);
    let mut longer = block.clone();
    longer.insert(padding[0] / 8 + 1, 0);
    bad("a byte that no stream takes", kind, longer, 20, FILL);
    for bit in padding {
        let mut padded = block.clone();
        assert_eq!(padded[bit / 8] >> (bit % 8) & 1, 0);
        padded[bit / 8] |= 1 << (bit % 8);
        bad("padding", kind, padded, 20, PADDING);
    }
    good(codec, kind, vec![], &[5]);
    good(codec, kind, vec![], &[0]);
    good(codec, kind, vec![], &[u64::MAX]);
    refused("one key and a body", &segment(codec, &[(kind, 1, 5, vec![0])]), Read, FILL);
    refused("one key and eight bits more", &segment(codec, &[(kind, 1, 5, vec![1])]), Read, FILL);
    // Too few bytes: they belong to the next block.
    for length in 0..block.len() {
        let (first, second) = block.split_at(length);
        let bytes = segment(codec, &[(kind, 3, 20, first.to_vec()), (kind, 1, 30, second.to_vec())]);
        refused(&format!("{length} bytes"), &bytes, Read, cut[0]);
        let fixture = fixture(&bytes, MODES[length % 2]);
        let view = inspect::open(super::segment(), &fixture.options).unwrap().remove(0);
        let error = view.block(0, 0).unwrap_err();
        assert!(cut.contains(&error.message()), "{length} bytes of {kind}: {error}");
    }
}

/// The same of a block with one stream.
fn frames_of(codec: Codec, kind: u8, body: &Body) {
    let block = body.bytes();
    let padding: Vec<usize> = (body.0.len()..8 * block.len()).collect();
    frames(codec, kind, block, &padding, &[FILL]);
}

#[test]
fn blocks_of_several_kinds() {
    let gap = Body::default().value(1, 2).value(3, 2).unary(1).unary(0).bytes();
    let flips = flips::Streams::default().far(0, 29).flips(0, 1, &[]).bytes(&flips::DENSE);
    let one: Block = (62, 1, 22, vec![]);
    let blocks = [(2, 3, 20, gap.clone()), one, (0, 1, 24, vec![]), (FLIPS, 3, 50, flips), (2, 3, 80, gap)];
    let keys = [5, 9, 20, 22, 24, 29, 31, 50, 56, 60, 80];
    let records = keys.map(|fingerprint| Record::new(fingerprint, 1));
    accepted("five blocks", &segment(Codec::Adaptive, &blocks), &records);
    // The same entries in few bits: gaps of 5 bits, counts of 2, lengths of 3, kinds of 6.
    let mut parts = Parts::take(&segment(Codec::Adaptive, &blocks));
    let starts = [0, 21, 23, 25, 51];
    let column = |body: Body, value: fn(&Block, u64) -> u64, bits| {
        blocks.iter().zip(starts).fold(body, |body, (block, start)| body.value(value(block, start), bits))
    };
    let body = column(Body::default(), |block, start| block.2 - start - 1, 5);
    let body = column(body, |block, _| u64::from(block.1) - 1, 2);
    let body = column(body, |block, _| block.3.len() as u64, 3);
    let body = column(body, |block, _| block.0.into(), 6);
    parts.sections[2] = chunk(5, [5, 2, 3, 6], (1, 1, 0, 0), &body.bytes());
    accepted("five blocks in few bits", &parts.bytes(), &records);
}

#[test]
fn xor() {
    let body = Body::default().xor(u64::MAX, 5).xor(5, 9);
    frames_of(Codec::Xor, XOR, &body);
    for (label, keys, last) in [
        ("descending", [9, 5], 20),
        ("the greatest key within", [u64::MAX - 1, u64::MAX], u64::MAX),
        ("descending from far", [1 << 63, 5], 20),
    ] {
        let block = Body::default().xor(u64::MAX, keys[0]).xor(keys[0], keys[1]).bytes();
        bad(label, XOR, block, last, ORDER);
    }
    // After the greatest key it would begin again at 0.
    let block = Body::default().xor(u64::MAX, 7).xor(7, u64::MAX).xor(u64::MAX, 9).bytes();
    refused("around", &segment(Codec::Xor, &[(XOR, 4, 20, block)]), Read, ORDER);
}

/// A gap block of these low and high parts.
pub(super) fn gaps(low_width: u32, parts: &[(u64, usize)]) -> Body {
    let lows = parts.iter().fold(Body::default(), |body, part| body.value(part.0, low_width));
    parts.iter().fold(lows, |body, part| body.unary(part.1))
}

/// The keys of the gaps with these low and high parts, and a last one.
fn sums(low_width: u32, parts: &[(u64, usize)], last: u64) -> Vec<u64> {
    let gaps = parts.iter().map(|&(low, high)| (high as u64) << low_width | low);
    let keys = gaps.scan(0, |next, gap| {
        let key = *next + gap;
        *next = key + 1;
        Some(key)
    });
    keys.chain([last]).collect()
}

#[test]
fn gap() {
    const CODEC: Codec = Codec::Adaptive;
    // Gaps 5 and 3.
    frames_of(CODEC, 0, &gaps(0, &[(0, 5), (0, 3)]));
    frames_of(CODEC, 1, &gaps(1, &[(1, 2), (1, 1)]));
    frames_of(CODEC, 2, &gaps(2, &[(1, 1), (3, 0)]));
    frames_of(CODEC, 56, &gaps(56, &[(5, 0), (3, 0)]));
    for low_width in 0..=56 {
        // Enough keys for all decoding paths: several at a time, and the last ones singly.
        let parts: Vec<(u64, usize)> = (0..41)
            .map(|i| (0x00f7_35a9_c1e2_4b86_u64.rotate_left(i) & ((1 << low_width) - 1), i as usize % 5))
            .collect();
        good(CODEC, low_width as u8, gaps(low_width, &parts).bytes(), &sums(low_width, &parts, u64::MAX));
    }
}

#[test]
fn the_unary_stream_of_gap() {
    const CODEC: Codec = Codec::Adaptive;
    // Bits 0 to 7: the last one is the block's last bit.
    let full = gaps(0, &[(0, 2), (0, 4)]).bytes();
    assert_eq!(full, [0b1000_0100]);
    good(CODEC, 0, full.clone(), &[2, 7, 20]);
    // The first bit after it, which is the next block's first bit.
    let beyond = |after: &[Block]| segment(CODEC, &[&[(0, 3, 20, vec![0b0000_0100])][..], after].concat());
    refused("a bit behind the block", &beyond(&[(0, 2, 30, vec![1])]), Read, FILL);
    refused("eight bits behind the block", &beyond(&[(0, 2, 40, vec![0x80])]), Read, FILL);
    refused("far behind the block", &beyond(&[(8, 2, 500, vec![0, 1]), (8, 3, 1000, vec![0, 0, 3])]), Read, FILL);
    refused("nowhere", &beyond(&[]), Read, FILL);
    bad("no ones", 0, vec![0; 60], 20, FILL);
    bad("a one too few", 0, [vec![4], vec![0; 60]].concat(), 20, FILL);
    bad("a one too many", 0, vec![0b0010_0110], 20, PADDING);
    bad("many ones too many", 0, vec![0xff; 3], 20, FILL);
    // Low parts without a unary stream, and a unary stream without low parts.
    bad("no high parts", 8, vec![1, 2], 20, FILL);
    bad("no high parts in zeros", 8, vec![1, 2, 0], 20, FILL);
    bad("low parts that leave the block", 8, vec![1], 20, FILL);
    bad("low parts that leave the page", 56, vec![1], 20, FILL);
    let low_parts_after = [(8, 3, 20, vec![1]), (8, 3, 40, vec![2, 3, 3])];
    refused("low parts in the next block", &segment(CODEC, &low_parts_after), Read, FILL);
    refused("as many keys as none can have", &segment(CODEC, &[(56, 5000, 1 << 60, vec![3; 100])]), Read, FILL);
    refused("and low parts of no width", &segment(CODEC, &[(0, 5000, 1 << 60, vec![255; 624])]), Read, FILL);
    good(CODEC, 0, [vec![255; 624], vec![127]].concat(), &(0..5000).collect::<Vec<_>>());
    // One high part takes the whole page, and then one bit more.
    let zeros = 8 * 4092 - 2;
    good(CODEC, 40, gaps(40, &[(1, zeros - 40)]).bytes(), &[((zeros as u64 - 40) << 40) + 1, u64::MAX]);
    let block = gaps(40, &[(1, zeros - 39)]).bytes();
    assert_eq!(block.len(), 4092);
    good(CODEC, 40, block, &[((zeros as u64 - 39) << 40) + 1, u64::MAX]);
    let mut block = gaps(40, &[(1, zeros - 38)]).bytes();
    block.truncate(4092);
    refused("a bit behind the page", &segment(CODEC, &[(40, 2, u64::MAX, block)]), Read, FILL);
}

#[test]
fn gaps_beyond_the_greatest_key() {
    const CODEC: Codec = Codec::Adaptive;
    const MOST: u64 = (1 << 56) - 1;
    let long = |parts: &[(u64, usize)], last: u64| {
        segment(CODEC, &[(56, parts.len() as u16 + 1, last, gaps(56, parts).bytes())])
    };
    // A sum just below the limit: from one high part, from several, and from low parts alone.
    for parts in [
        vec![(5, 0), (6, 131)],
        vec![(MOST - 1, 255)],
        vec![(MOST, 100), (MOST - 1, 154)],
        vec![(MOST, 0); 255],
        [vec![(MOST, 0); 255], vec![(MOST - 1, 0)]].concat(),
        [vec![(MOST, 0); 100], vec![(MOST - 1, 155)]].concat(),
        [vec![(5, 0); 300], vec![(7, 200)]].concat(),
        [vec![(0, 0); 300], vec![(MOST - 301, 255)]].concat(),
    ] {
        good(CODEC, 56, gaps(56, &parts).bytes(), &sums(56, &parts, u64::MAX));
    }
    // One more: that key is the greatest, which may only be in the index.
    for (label, parts) in [
        ("the greatest key in one", vec![(MOST, 255)]),
        ("the greatest key in two", vec![(MOST, 100), (MOST, 154)]),
        ("the greatest key in low parts", vec![(MOST, 0); 256]),
        ("the greatest key behind many", [vec![(0, 0); 300], vec![(MOST - 300, 255)]].concat()),
    ] {
        refused(label, &long(&parts, u64::MAX), Read, ORDER);
    }
    // Beyond the limit: modulo 2^64 all of these keys are in range, and all but one of them, or even all, ascend.
    for (label, parts) in [
        ("low parts around", vec![(MOST, 0); 300]),
        ("low parts around by one", [vec![(MOST, 0); 256], vec![(0, 0)]].concat()),
        ("low parts around in the middle", [vec![(MOST, 0); 500], vec![(9, 0); 20]].concat()),
        ("low parts around twice", vec![(MOST, 0); 560]),
        ("low parts and a high one around", [vec![(MOST, 0); 40], vec![(MOST, 216)], vec![(3, 0); 3]].concat()),
        ("a high part of 256", vec![(5, 0), (6, 256)]),
        ("a high part of 256 first", vec![(5, 256), (6, 0)]),
        ("a high part of 257", vec![(5, 0), (6, 257)]),
        ("a high part of 512", vec![(5, 512)]),
        ("a high part of 20,000", vec![(5, 1), (6, 20_000)]),
        ("the same key again", vec![(5, 0), (MOST, 255), (6, 0)]),
        ("two high parts around", vec![(5, 127), (6, 128), (7, 1)]),
        ("two high parts around exactly", vec![(0, 128), (0, 128)]),
        ("a high part in each of many", vec![(0, 1); 300]),
    ] {
        refused(label, &long(&parts, 1 << 63), Read, ORDER);
        refused(&format!("{label}, up to the end"), &long(&parts, u64::MAX), Read, ORDER);
    }
    // Narrower low parts; below 50 bits a page of 4,096 bytes has no space for such a high part.
    for (low_width, high) in [(50, 1 << 14), (52, 1 << 12), (55, 512)] {
        let short = gaps(low_width, &[(7, 3), (3, high - 4)]);
        good(CODEC, low_width as u8, short.bytes(), &sums(low_width, &[(7, 3), (3, high - 4)], u64::MAX));
        bad("a high part around", low_width as u8, gaps(low_width, &[(7, 0), (3, high)]).bytes(), 1 << 60, ORDER);
        bad("both around", low_width as u8, gaps(low_width, &[(7, 3), (3, high - 3)]).bytes(), 1 << 60, ORDER);
    }
    // Small gaps after a great base: the first key, the only one, a later one, the last of many.
    let with_base = |base: u64, low_width: u32, parts: &[(u64, usize)]| {
        let before = (0, 1, base - 1, vec![]);
        let block = gaps(low_width, parts).bytes();
        segment(CODEC, &[before, (low_width as u8, parts.len() as u16 + 1, u64::MAX, block)])
    };
    let base = u64::MAX - 40;
    let records = [base - 1, base + 5, base + 39, u64::MAX].map(|fingerprint| Record::new(fingerprint, 1));
    accepted("just not around", &with_base(base, 3, &[(5, 0), (1, 4)]), &records);
    for (label, low_width, parts) in [
        ("the greatest key", 3, vec![(5, 0), (2, 4)]),
        ("the first key around", 3, vec![(1, 5), (2, 0)]),
        ("the only key around", 3, vec![(1, 5)]),
        ("the second key around", 3, vec![(5, 0), (3, 4)]),
        ("both keys around", 0, vec![(0, 41), (0, 3)]),
        ("the last of many around", 0, vec![(0, 0); 42]),
        ("many around", 0, vec![(0, 1); 300]),
        ("a low part around", 56, vec![(MOST, 0), (MOST, 1)]),
        ("around up to the base", 56, vec![(MOST, 255), (3, 0)]),
        ("around beyond the base", 56, vec![(5, 256), (3, 0)]),
        ("low parts around beyond the base", 56, [vec![(MOST, 0); 256], vec![(1, 0)]].concat()),
    ] {
        refused(label, &with_base(base, low_width, &parts), Read, ORDER);
    }
}
