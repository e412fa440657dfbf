//! Blocks that no encoder writes, in a table whose codes are plain enough to write them by hand.

use super::When::Read;
use super::parts::{Parts, chunk};
use super::{accepted, refused};
use fpstore::{Codec, Design, Parameters, Record};

const ORDER: &str = "keys of a block are not in ascending order";
const FILL: &str = "the streams of a block do not fill it";
const PADDING: &str = "padding of a block is not zero";

/// The two streams of a block.
#[derive(Clone, Default)]
struct Body {
    forward: Vec<bool>,
    backward: Vec<bool>,
}

impl Body {
    /// A code word, first digit first.
    fn word(mut self, word: u64, digits: u32) -> Self {
        self.forward.extend((0..digits).rev().map(|digit| word >> digit & 1 == 1));
        self
    }

    /// A value read forward.
    fn value(mut self, value: u64, bits: u32) -> Self {
        self.forward.extend((0..bits).map(|bit| value >> bit & 1 == 1));
        self
    }

    /// A value read backward.
    fn behind(mut self, value: u64, bits: u32) -> Self {
        self.backward.extend((0..bits).rev().map(|bit| value >> bit & 1 == 1));
        self
    }

    /// A key of a xor block: all codes have six bits.
    fn xor(self, previous: u64, key: u64) -> Self {
        let position = (previous ^ key).leading_zeros();
        self.word(position.into(), 6).value(previous ^ key, 63 - position)
    }

    /// A gap in a flips block.
    fn gap(self, gap: u64) -> Self {
        let length = 64 - gap.leading_zeros();
        self.word(length.into(), 7).behind(gap, length.saturating_sub(1))
    }

    /// The symbol of `flips` flips, the topmost of which is bit `top`.
    fn flips(self, flips: u64, top: u64) -> Self {
        self.word(if flips == 1 { 65 } else { 97 } + top, 7)
    }

    /// The block with this header byte.
    fn block(&self, header: u8) -> Vec<u8> {
        let mut bits = self.forward.clone();
        bits.resize((bits.len() + self.backward.len()).next_multiple_of(8) - self.backward.len(), false);
        bits.extend(self.backward.iter().rev());
        let bytes = bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |value, &bit| value << 1 | u8::from(bit)));
        [header].into_iter().chain(bytes).collect()
    }
}

/// Lengths of codes, four bits each.
fn nibbles(lengths: &[u8]) -> Vec<u8> {
    lengths.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4).collect()
}

/// A segment of one table with these blocks: number of keys, the last one, bytes.
fn segment(codec: Codec, blocks: &[(u16, u64, Vec<u8>)]) -> Vec<u8> {
    let count: u16 = blocks.iter().map(|block| block.0).sum();
    let records: Vec<Record> = (0..count.into()).map(|fingerprint| Record { fingerprint, id: 1 }).collect();
    let design = Design::Tables { parts: 1 };
    let mut parts = Parts::of(&Parameters::new(3).with_design(design).with_codec(codec), &records);
    parts.blocks[0] = blocks.len() as u64;
    parts.sections[0] = blocks.iter().flat_map(|block| block.2.clone()).chain([0; 4]).collect();
    parts.sections[1] = match codec {
        Codec::Xor => nibbles(&[6; 64]),
        _ => {
            // Of the gap code 37 words of six bits, the others of seven; of the flips the lengths of gaps, 32 single
            // flips and 31 double ones, all of seven.
            let gap: Vec<u8> = (0..91).map(|symbol| if symbol < 37 { 6 } else { 7 }).collect();
            let coded = |symbol| matches!(symbol, 0..97 | 129..160);
            let flips: Vec<u8> = (0..577).map(|symbol| if coded(symbol) { 7 } else { 0 }).collect();
            [nibbles(&gap), nibbles(&flips)].concat()
        }
    };
    parts.sections[1].extend([0; 4]);
    let mut base = 0;
    parts.sections[2].clear();
    for (count, last, bytes) in blocks {
        parts.sections[2].extend(chunk(1, [0; 3], (last.wrapping_sub(base), *count, bytes.len() as u16), &[]));
        base = last.wrapping_add(1);
    }
    parts.bytes()
}

fn good(codec: Codec, block: Vec<u8>, keys: &[u64]) {
    let records: Vec<Record> = keys.iter().map(|&fingerprint| Record { fingerprint, id: 1 }).collect();
    let bytes = segment(codec, &[(keys.len() as u16, *keys.last().unwrap(), block)]);
    accepted(&format!("{codec} {keys:x?}"), &bytes, &records);
}

/// One block of three keys, of which the index has the last.
fn bad(label: &str, codec: Codec, block: Vec<u8>, last: u64, message: &str) {
    refused(label, &segment(codec, &[(3, last, block)]), Read, message);
}

/// What every kind of block refuses; `body` is that of two keys, 5 and 9, with some padding.
fn frames(codec: Codec, header: u8, body: &Body) {
    let block = body.block(header);
    good(codec, block.clone(), &[5, 9, 20]);
    bad("the last key again", codec, block.clone(), 9, ORDER);
    bad("a key above the last", codec, block.clone(), 8, ORDER);
    let mut longer = block.clone();
    longer.insert(1 + body.forward.len() / 8 + 1, 0);
    bad("a byte that no stream takes", codec, longer, 20, FILL);
    let mut shorter = block.clone();
    shorter.pop();
    bad("a byte too few", codec, shorter, 20, FILL);
    let mut padded = block;
    padded[1 + body.forward.len() / 8] |= 1 << (body.forward.len() % 8);
    assert_ne!((body.forward.len() + body.backward.len()) % 8, 0);
    bad("padding", codec, padded, 20, PADDING);
    refused("one key and a body", &segment(codec, &[(1, 5, vec![header, 0])]), Read, FILL);
    refused("one key and eight bits more", &segment(codec, &[(1, 5, vec![header, 1])]), Read, FILL);
}

#[test]
fn headers() {
    let unknown = |header: u8| format!("block header {header:#04x} is none that exists");
    for codec in Codec::ALL {
        for header in [3, 4, 6, 7, 0xe5, 0xfd, 0xff] {
            bad(&format!("header {header}"), codec, vec![header, 0, 0], 20, &unknown(header));
        }
    }
    bad("a xor block", Codec::Adaptive, vec![0, 0, 0], 20, "a xor block in a table of codec adaptive");
    bad("a gap block", Codec::Xor, vec![1, 0, 0], 20, "a gap block in a table of codec xor");
    bad("a flips block", Codec::Xor, vec![2, 0, 0], 20, "a flips block in a table of codec xor");
}

#[test]
fn xor() {
    let body = Body::default().xor(u64::MAX, 5).xor(5, 9);
    frames(Codec::Xor, 0, &body);
    for (label, keys, last) in [
        ("descending", [9, 5], 20),
        ("the greatest key within", [u64::MAX - 1, u64::MAX], u64::MAX),
        ("descending from far", [1 << 63, 5], 20),
    ] {
        let block = Body::default().xor(u64::MAX, keys[0]).xor(keys[0], keys[1]).block(0);
        bad(label, Codec::Xor, block, last, ORDER);
    }
    // Behind the greatest key it would begin again at 0.
    let block = Body::default().xor(u64::MAX, 7).xor(7, u64::MAX).xor(u64::MAX, 9).block(0);
    refused("around", &segment(Codec::Xor, &[(4, 20, block)]), Read, ORDER);
}

#[test]
fn gap() {
    // Low width 3: gaps 5 and 3.
    let body = Body::default().value(5, 3).value(3, 3).word(0, 6).word(0, 6);
    frames(Codec::Adaptive, 0b1101, &body);
    let escape = |body: Body, bits: u32, value: u64| {
        let symbol = u64::from(bits) + 27;
        let body = if symbol < 37 { body.word(symbol, 6) } else { body.word(symbol + 37, 7) };
        body.value(value, bits)
    };
    let lows = || Body::default().value(5, 56).value(6, 56);
    good(Codec::Adaptive, escape(lows().word(0, 6), 7, 3).block(0xe1), &[5, (131 << 56) + 12, u64::MAX]);
    bad("a high part of 256", Codec::Adaptive, escape(lows().word(0, 6), 8, 0).block(0xe1), 20, ORDER);
    bad("a high part of 2^63", Codec::Adaptive, escape(lows().word(0, 6), 63, 0).block(0xe1), 20, ORDER);
    let around = escape(escape(lows(), 7, 127), 7, 127).block(0xe1);
    bad("the second key around", Codec::Adaptive, around, u64::MAX, ORDER);
    // A first key beyond the greatest needs a block before.
    let first = Body::default().word(0, 6).word(0, 6);
    let first = escape(first, 63, (1 << 63) - 1).block(1);
    let before = (1, 1 << 40, vec![1]);
    refused("the first key around", &segment(Codec::Adaptive, &[before, (4, 1 << 41, first)]), Read, ORDER);
    let first = escape(Body::default(), 63, (1 << 63) - 1).block(1);
    let before = (1, 1 << 40, vec![1]);
    refused("the only key around", &segment(Codec::Adaptive, &[before, (2, 1 << 41, first)]), Read, ORDER);
}

#[test]
fn flips() {
    const CODEC: Codec = Codec::Adaptive;
    let body = Body::default().gap(5).gap(3);
    frames(CODEC, 2, &body);
    // From 5 two flips, bits 3 and 1, lead to 15; below bit 3 a bit number takes two bits.
    let five = || Body::default().gap(5);
    good(CODEC, five().flips(2, 3).behind(1, 2).block(2), &[5, 15, 20]);
    good(CODEC, five().flips(1, 3).block(2), &[5, 13, 20]);
    bad("a bit number as high as the topmost", CODEC, five().flips(2, 3).behind(3, 2).block(2), 20, ORDER);
    bad("two flips from bit 0 on", CODEC, Body::default().gap(6).flips(2, 0).block(2), 20, ORDER);
    bad("a flip downwards", CODEC, five().flips(1, 2).block(2), 20, ORDER);
    bad("a gap beyond the greatest key", CODEC, five().gap(u64::MAX - 5).block(2), u64::MAX, ORDER);
    let greatest = five().gap(u64::MAX - 6);
    bad("the greatest key within", CODEC, greatest.block(2), u64::MAX, ORDER);
    refused("around", &segment(CODEC, &[(4, 20, greatest.gap(9).block(2))]), Read, ORDER);
    // A gap of 3 bits behind one of 0: 14 bits forward and 2 backward fill two bytes. One byte cannot hold both streams.
    let block = Body::default().gap(0).gap(6).block(2);
    good(CODEC, block.clone(), &[0, 7, 20]);
    bad("streams that overlap", CODEC, block[..2].to_vec(), 20, FILL);
    // 7 bits of symbols and 2 of a value in one byte: the value's lowest bit is the symbol's last, and so is the key.
    let overlapping = Body::default().word(3, 7).block(2);
    refused("a bit that both streams take", &segment(CODEC, &[(2, 20, overlapping)]), Read, FILL);
}
