//! Flips blocks that no encoder writes, in tables with codes simple enough to write by hand.

use super::When::Read;
use super::blocks::{Block, Body, FILL, FLIPS, ORDER, PADDING, bad, frames, good, segment, segment_with};
use super::{accepted, refused};
use fpstore::{Codec, Record};

const CODEC: Codec = Codec::Adaptive;

/// Symbols of the lengths of gaps; after them those that also encode biased bits.
const LENGTHS: u64 = 27;
const GROUPS: u64 = 32;
const FIRST_FLIPS: u64 = LENGTHS + LENGTHS * GROUPS;

/// The symbol of `flips` flips, the topmost of bit `top`, from the key `back` keys before the last.
pub(super) fn symbol(back: u64, flips: u64, top: u64) -> u64 {
    FIRST_FLIPS + 64 * (8 * back + flips - 1) + top
}

/// A code whose words all have the same length: the symbols in ascending order.
pub(super) struct HandMade {
    /// The biased bits.
    pub(super) biased: u32,
    /// Flips: the distance back, the number of flips, the topmost bits.
    flips: &'static [(u64, u64, &'static [u64])],
    /// Lengths of gaps whose symbols also encode the biased bits.
    grouped: &'static [u64],
}

/// All kinds of symbols. 27 gaps, twice four biased ones, 29 flips: 64 words of six bits.
pub(super) const DENSE: HandMade = HandMade {
    biased: 0b1_0010,
    grouped: &[0, 3],
    flips: &[
        (0, 1, &[0, 1, 2, 3, 4, 10, 40, 63]),
        (0, 2, &[1, 3, 5, 63]),
        (0, 4, &[3, 9, 20]),
        (0, 5, &[4, 10]),
        (0, 8, &[7, 8, 63]),
        (1, 1, &[4, 5, 6]),
        (1, 3, &[6]),
        (15, 1, &[3, 4, 5]),
        (15, 8, &[12, 13]),
    ],
};

/// Only few flips from the key before, which use another decoder. 27 gaps, 37 flips.
pub(super) const QUICK: HandMade = HandMade {
    biased: 0,
    grouped: &[],
    flips: &[
        (0, 1, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 40, 63]),
        (0, 2, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (0, 3, &[5, 6, 7, 8]),
        (0, 4, &[3, 9, 20]),
    ],
};

impl HandMade {
    pub(super) fn symbols(&self) -> Vec<u64> {
        let grouped = self
            .grouped
            .iter()
            .flat_map(|length| (0..1 << self.biased.count_ones()).map(move |group| LENGTHS + GROUPS * length + group));
        let flips =
            self.flips.iter().flat_map(|&(back, flips, tops)| tops.iter().map(move |&t| symbol(back, flips, t)));
        let symbols: Vec<u64> = (0..LENGTHS).chain(grouped).chain(flips).collect();
        assert!(symbols.is_sorted() && symbols.len() == 64);
        symbols
    }

    /// The codes section, without its checksum.
    pub(super) fn section(&self) -> Vec<u8> {
        section(self.biased, &self.symbols().into_iter().map(|symbol| (symbol, 6)).collect::<Vec<_>>())
    }
}

/// The flips code of these biased bits, symbols and lengths in a codes section.
pub(super) fn section(biased: u32, coded: &[(u64, u8)]) -> Vec<u8> {
    let rows = std::iter::once((0, LENGTHS))
        .chain((0..LENGTHS).map(|length| (LENGTHS + GROUPS * length, GROUPS)))
        .chain((0..128).map(|row| (FIRST_FLIPS + 64 * row, 64)));
    let mut body = Body::default().value(biased.into(), 32);
    for (start, count) in rows {
        let own: Vec<(u64, u8)> =
            coded.iter().copied().filter(|(symbol, _)| (start..start + count).contains(symbol)).collect();
        let (Some(first), Some(last)) = (own.first(), own.last()) else {
            body = body.value(0, 1);
            continue;
        };
        body = body.value(1, 1).value(first.0 - start, 6).value(last.0 - start, 6);
        for symbol in first.0..=last.0 {
            let length = own.iter().find(|coded| coded.0 == symbol).map_or(0, |coded| coded.1);
            body = body.value(length.into(), 4);
        }
    }
    wrapped(&body.bytes())
}

/// A flips code in a codes section.
pub(super) fn wrapped(code: &[u8]) -> Vec<u8> {
    [&u16::try_from(code.len()).unwrap().to_le_bytes()[..], code].concat()
}

fn choose(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, i| product * n.saturating_sub(i) / (i + 1))
}

/// The keys of a flips block: symbols, and values with their widths.
#[derive(Clone, Default)]
pub(super) struct Streams(Vec<(u64, u64, u32)>);

impl Streams {
    fn raw(mut self, symbol: u64, value: u64, width: u32) -> Self {
        self.0.push((symbol, value, width));
        self
    }

    /// A gap of upper halves, and a lower half. Both as bits of one number.
    pub(super) fn far(self, gap: u64, low: u32) -> Self {
        let gap = gap >> 32;
        let length = 64 - gap.leading_zeros();
        let below = length.saturating_sub(1);
        self.raw(length.into(), (gap & ((1 << below) - 1)) << 32 | u64::from(low), 32 + below)
    }

    /// The same with a symbol that encodes the bits 1 and 4, those of [`DENSE`].
    fn grouped(self, gap: u64, low: u32) -> Self {
        let gap = gap >> 32;
        let length = 64 - gap.leading_zeros();
        let below = length.saturating_sub(1);
        let low = u64::from(low);
        let group = low >> 1 & 1 | low >> 4 << 1 & 2;
        let rest = low & 1 | low >> 2 << 1 & 0b110 | low >> 5 << 3;
        let value = (gap & ((1 << below) - 1)) << 30 | rest;
        self.raw(LENGTHS + GROUPS * u64::from(length) + group, value, 30 + below)
    }

    /// Flips, the others given by their rank.
    fn ranked(self, back: u64, flips: u64, top: u64, rank: u64) -> Self {
        let sets = choose(top, flips - 1);
        self.raw(symbol(back, flips, top), rank, 64 - (sets - 1).leading_zeros())
    }

    /// Flips of bit `top` and of others, ascending.
    pub(super) fn flips(self, back: u64, top: u64, others: &[u64]) -> Self {
        let rank = others.iter().zip(1..).map(|(&bit, k)| choose(bit, k)).sum();
        self.ranked(back, others.len() as u64 + 1, top, rank)
    }

    /// The lanes, even and odd, and the values in the order of the block.
    fn parts(&self, code: &HandMade) -> [Body; 3] {
        let symbols = code.symbols();
        let lane = |first: usize| {
            self.0.iter().skip(first).step_by(2).fold(Body::default(), |lane, key| {
                lane.word(symbols.binary_search(&key.0).expect("a symbol without a word") as u64, 6)
            })
        };
        let values = self.0.iter().rev().fold(Body::default(), |values, key| values.value(key.1, key.2));
        [lane(0), lane(1), values]
    }

    pub(super) fn bytes(&self, code: &HandMade) -> Vec<u8> {
        self.bytes_as(code, |even| even)
    }

    /// The block; `head` changes the stored length of the even lane.
    fn bytes_as(&self, code: &HandMade, head: impl Fn(usize) -> usize) -> Vec<u8> {
        let [even, odd, values] = self.parts(code);
        let even = even.bytes();
        let told = head(even.len()).to_le_bytes();
        let mut rest = odd.0;
        rest.resize((rest.len() + values.0.len()).next_multiple_of(8) - values.0.len(), false);
        rest.extend(values.0);
        let head = if self.0.len() <= 340 { 1 } else { 2 };
        [&told[..head], &even, &Body(rest).bytes()].concat()
    }
}

/// Keys 5 and 9, with several codings of the second one.
#[test]
fn two_keys() {
    type Way = fn(Streams, u64, u32) -> Streams;
    const WAYS: [Way; 2] = [Streams::far, Streams::grouped];
    for second in WAYS {
        let streams = second(Streams::default().far(1 << 32, 5), 0, 9);
        let [even, odd, values] = streams.parts(&DENSE);
        let block = streams.bytes(&DENSE);
        let start = 8 + even.0.len().next_multiple_of(8);
        let padding = (8 + even.0.len()..start).chain(start + odd.0.len()..8 * block.len() - values.0.len());
        let padding: Vec<usize> = padding.collect();
        assert!(padding.iter().any(|&bit| bit < start) && padding.iter().any(|&bit| bit >= start));
        frames_with_two_lanes(block, &padding);
        // The key before the table's first one has an upper half of ones.
        for first in WAYS {
            let wide = second(first(Streams::default(), 7 << 32, 5), 0, 9);
            good(CODEC, FLIPS, wide.bytes(&DENSE), &[6 << 32 | 5, 6 << 32 | 9, u64::MAX]);
        }
    }
    // From 5 to 9 the bits 3 and 2 flip.
    good(CODEC, FLIPS, Streams::default().far(1 << 32, 5).flips(0, 3, &[2]).bytes(&DENSE), &[5, 9, 20]);
    good(CODEC, FLIPS, Streams::default().far(1 << 32, 5).bytes(&DENSE), &[5, 20]);
}

/// [`frames`]; also, a padding bit between the lanes counts as one in a stream that does not fill the block.
fn frames_with_two_lanes(block: Vec<u8>, padding: &[usize]) {
    let (lane, last): (Vec<usize>, Vec<usize>) = padding.iter().partition(|&&bit| bit < 16);
    for bit in lane {
        let mut padded = block.clone();
        padded[bit / 8] |= 1 << (bit % 8);
        bad("padding between the lanes", FLIPS, padded, 20, FILL);
    }
    frames(CODEC, FLIPS, block, &last, &[FILL, ORDER]);
}

/// The coding of a key.
#[derive(Clone, Copy)]
enum Way {
    Far,
    Grouped,
    /// From the key this many keys before the last one.
    Flips(usize),
}

/// These keys, after the one before the block.
fn write(before: u64, keys: &[(Way, u64)]) -> Streams {
    let mut earlier = vec![before];
    keys.iter().fold(Streams::default(), |streams, &(way, key)| {
        let gap = (key >> 32 << 32).wrapping_sub(earlier.last().unwrap() >> 32 << 32);
        let reference = |back: usize| earlier[earlier.len() - 1 - back];
        let streams = match way {
            Way::Far => streams.far(gap, key as u32),
            Way::Grouped => streams.grouped(gap, key as u32),
            Way::Flips(back) => {
                let mut bits = (0..64).filter(|bit| (reference(back) ^ key) >> bit & 1 == 1).collect::<Vec<_>>();
                let top = bits.pop().unwrap();
                streams.flips(back as u64, top, &bits)
            }
        };
        earlier.push(key);
        streams
    })
}

#[test]
fn everything_that_a_symbol_can_say() {
    use Way::{Far, Flips, Grouped};
    const UPPER: u64 = 5 << 32;
    const LATER: u64 = UPPER + (11 << 32) + (((1 << 26) - 1) << 32);
    let keys = [
        (Far, UPPER | 0x10),
        (Flips(0), UPPER | 0x11),
        (Flips(0), UPPER | 0x12),
        (Flips(0), UPPER | 0x1b),
        (Flips(1), UPPER | 0x32),
        (Far, UPPER | 0x100),
        (Flips(0), UPPER | 0x10f),
        (Flips(0), UPPER | 0x206),
        (Far, UPPER | 0x1000),
        (Far, UPPER | 0x1001),
        (Flips(1), UPPER | 0x1046),
        (Far, UPPER | 0x2000),
        (Flips(0), UPPER | 0x241e),
        (Flips(0), UPPER | 0x10_2419),
        (Far, UPPER | 0x20_0000),
        (Flips(0), UPPER | 0x20_01fe),
        (Far, UPPER | 0x30_0000),
        (Flips(0), UPPER | 0x30_00ff),
        (Far, UPPER | 0x8000_0000),
        (Grouped, UPPER | 0x8000_0012),
        (Grouped, UPPER | 0xffff_ffe0),
        (Grouped, (UPPER + (4 << 32)) | 0x1234_5678),
        (Grouped, (UPPER + (11 << 32)) | 0x9abc_dee2),
        (Far, LATER | 7),
        (Flips(0), LATER | 1 << 40 | 7),
        (Flips(0), (LATER | 1 << 40 | 7) ^ (1 << 63 | 1 << 58)),
    ];
    let block = write(u64::MAX, &keys).bytes(&DENSE);
    let keys: Vec<u64> = keys.into_iter().map(|(_, key)| key).chain([u64::MAX]).collect();
    good(CODEC, FLIPS, block, &keys);
}

#[test]
fn references() {
    // Sixteen keys, 32 apart; then flips from the sixteenth key before, and from the one before the block.
    let many = |count: u64| (1..=count).fold(Streams::default(), |streams, i| streams.far(0, 32 * i as u32));
    let before: Block = (0, 1, 9, vec![]);
    let with = |streams: &Streams, last: u64| {
        segment(CODEC, &[before.clone(), (FLIPS, streams.0.len() as u16 + 1, last, streams.bytes(&DENSE))])
    };
    let keys = |own: &[u64]| -> Vec<Record> {
        [9].iter().chain(own).map(|&fingerprint| Record::new(fingerprint, 1)).collect()
    };
    // From 9 bit 4 leads to 25, and the bits 4 and 3 to 17; from 25 bit 5 to 57.
    accepted("from the key before", &with(&Streams::default().flips(0, 4, &[]), 30), &keys(&[25, 30]));
    let second = Streams::default().flips(0, 4, &[]).flips(1, 6, &[0, 3]);
    accepted("over one key from it", &with(&second, 200), &keys(&[25, 64, 200]));
    for count in [1, 13, 14] {
        let streams = many(count).flips(15, 13, &[0, 1, 2, 3, 4, 5, 6]);
        refused(&format!("{count} keys before"), &with(&streams, 1 << 40), Read, ORDER);
    }
    refused("over the key before", &with(&Streams::default().flips(1, 4, &[]), 30), Read, ORDER);
    for count in [15, 16, 17, 40] {
        let streams = many(count).flips(15, 13, &[0, 1, 2, 3, 4, 5, 6]);
        let reference = if count == 15 { 9 } else { 32 * (count - 15) };
        let own: Vec<u64> = (1..=count).map(|i| 32 * i).chain([(reference + (1 << 13)) ^ 127, 1 << 40]).collect();
        accepted(&format!("{count} keys before"), &with(&streams, 1 << 40), &keys(&own));
    }
    // The topmost flipped bit is added, even if the reference has it.
    accepted("a carry", &with(&Streams::default().far(0, 24).flips(0, 3, &[]), 99), &keys(&[24, 32, 99]));
    accepted("a carry and a flip", &with(&Streams::default().far(0, 24).flips(0, 3, &[2]), 99), &keys(&[24, 36, 99]));
}

#[test]
fn ranks() {
    let from = Streams::default().far(1 << 32, 0);
    for (back, flips, top, sets) in
        [(0, 2, 3, 3), (0, 2, 63, 63), (0, 4, 9, 84), (0, 4, 20, 1140), (0, 5, 10, 210), (0, 8, 63, 553_270_671)]
    {
        assert_eq!(choose(top, flips - 1), sets);
        // The greatest set: the bits right below the topmost one.
        let key = ((1 << flips) - 1) << (top + 1 - flips);
        good(CODEC, FLIPS, from.clone().ranked(back, flips, top, sets - 1).bytes(&DENSE), &[0, key, u64::MAX]);
        let last = u64::next_power_of_two(sets) - 1;
        for rank in [sets, (sets + last) / 2, last] {
            let label = format!("{flips} flips from bit {top}, rank {rank}");
            bad(&label, FLIPS, from.clone().ranked(back, flips, top, rank).bytes(&DENSE), u64::MAX, ORDER);
        }
    }
    // Ranks without bits: no bit to choose, or the only set.
    good(CODEC, FLIPS, from.clone().flips(0, 7, &[0, 1, 2, 3, 4, 5, 6]).bytes(&DENSE), &[0, 255, 300]);
    good(CODEC, FLIPS, from.clone().flips(0, 4, &[0, 1, 2, 3]).bytes(&DENSE), &[0, 31, 300]);
    good(CODEC, FLIPS, from.clone().flips(0, 3, &[0, 1, 2]).bytes(&DENSE), &[0, 15, 300]);
    good(CODEC, FLIPS, from.flips(0, 1, &[0]).bytes(&DENSE), &[0, 3, 300]);
}

#[test]
fn the_even_lane() {
    for count in [2u32, 3, 16, 17, 340, 341, 343, 700] {
        // By bit 0, which is added to the key before: no values but the first one's.
        let first = Streams::default().far(1 << 32, 0);
        let streams = (1..count).fold(first, |streams, _| streams.flips(0, 0, &[]));
        let keys: Vec<u64> = (0..u64::from(count) + 1).collect();
        let last = u64::from(count);
        let block = |head: &dyn Fn(usize) -> usize| {
            segment(CODEC, &[(FLIPS, count as u16 + 1, last, streams.bytes_as(&DENSE, head))])
        };
        good(CODEC, FLIPS, streams.bytes(&DENSE), &keys);
        type Head = fn(usize) -> usize;
        let heads: [(&str, Head); 5] = [
            ("a byte more", |even| even + 1),
            ("a byte less", |even| even - 1),
            ("none", |_| 0),
            ("255 bytes", |even| if even == 255 { 254 } else { 255 }),
            ("65,535 bytes", |_| 0xffff),
        ];
        for (label, head) in heads {
            refused(&format!("{count} keys, {label}"), &block(&head), Read, FILL);
        }
    }
}

#[test]
fn streams_that_meet() {
    // Both lanes of six bits, values of 32: removes a byte from the middle.
    let streams = Streams::default().far(1 << 32, 5).flips(0, 3, &[]);
    let block = streams.bytes(&DENSE);
    good(CODEC, FLIPS, block.clone(), &[5, 13, 20]);
    assert_eq!(block.len(), 1 + 1 + 1 + 4);
    // The odd lane's only symbol and the value share a byte, or more.
    for bytes in 1..=4 {
        let overlapping = [&block[..2], &block[2 + bytes..]].concat();
        refused(&format!("{bytes} bytes shared"), &segment(CODEC, &[(FLIPS, 3, 1 << 40, overlapping)]), Read, "");
    }
    // A value of 32 bits in a block of fewer, and one that begins before the block.
    bad("a value longer than the block", FLIPS, vec![1, 0, 0], 20, FILL);
    bad("only a head", FLIPS, vec![0], 20, FILL);
    bad("a head that leads beyond", FLIPS, vec![200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], u64::MAX, FILL);
    let long = (0..300).fold(Streams::default(), |streams, _| streams.far(1 << 32, 0));
    let block = long.bytes(&DENSE);
    let short = [&block[..80], &block[block.len() - 1000..]].concat();
    refused("many values too few", &segment(CODEC, &[(FLIPS, 301, u64::MAX, short)]), Read, "");
}

#[test]
fn order() {
    let five = || Streams::default().far(1 << 32, 5);
    for (label, streams, last) in [
        ("equal keys", five().far(0, 5), 20),
        ("descending", five().far(0, 4), 20),
        ("descending by flips", five().far(0, 40).flips(1, 4, &[]), 200),
        ("upper halves around", upper_halves(17), u64::MAX),
        ("a carry around", Streams::default().far(1 << 32, 0).flips(0, 63, &[]).flips(0, 63, &[]), u64::MAX),
        ("the greatest key within", all_ones(), u64::MAX),
    ] {
        let block = (FLIPS, streams.0.len() as u16 + 1, last, streams.bytes(&DENSE));
        refused(label, &segment(CODEC, &[block]), Read, ORDER);
    }
    let (block, last) = (upper_halves(16).bytes(&DENSE), u64::MAX);
    let keys = [0, 0xc000_0000].into_iter().chain((1..=16).map(|i| 0xc000_0000 + i * GAP)).map(|upper| upper << 32);
    good(CODEC, FLIPS, block, &keys.chain([last]).collect::<Vec<_>>());
    let before: Block = (0, 1, 40, vec![]);
    for (label, streams) in [
        ("below the base", Streams::default().far(0, 40)),
        ("far below it", Streams::default().far(0, 3)),
        ("below and then above", Streams::default().far(0, 3).far(0, 50)),
    ] {
        let block = (FLIPS, streams.0.len() as u16 + 1, 99, streams.bytes(&DENSE));
        refused(label, &segment(CODEC, &[before.clone(), block]), Read, ORDER);
    }
}

/// The greatest gap of upper halves.
const GAP: u64 = (1 << 26) - 1;

/// Keys whose upper halves are 0, 0xc0000000, and `count` further ones with the greatest gaps. The 17th wraps around.
fn upper_halves(count: usize) -> Streams {
    let first = Streams::default().far(1 << 32, 0).flips(0, 63, &[62]);
    (0..=count).skip(1).fold(first, |streams, _| streams.far(GAP << 32, 0))
}

/// Ends with a key of ones only, which may only be in the index.
fn all_ones() -> Streams {
    let (streams, upper) = (upper_halves(16), 0xc000_0000 + 16 * GAP);
    streams.far((0xffff_ffff - upper) << 32, u32::MAX)
}

#[test]
fn a_table_without_a_code() {
    let none = "a flips block in a table without a code for it";
    let one: Block = (FLIPS, 1, 5, vec![]);
    refused("one key", &segment_with(CODEC, vec![0, 0], &[one]), Read, none);
    let two: Block = (FLIPS, 3, 20, Streams::default().far(1 << 32, 5).flips(0, 3, &[]).bytes(&DENSE));
    refused("three keys", &segment_with(CODEC, vec![0, 0], &[two]), Read, none);
    let gap: Block = (0, 3, 20, vec![0b1000_0100]);
    let keys = [2, 7, 20].map(|fingerprint| Record::new(fingerprint, 1));
    accepted("a gap block", &segment_with(CODEC, vec![0, 0], &[gap]), &keys);
}

#[test]
fn faults_in_the_middle_of_many_keys() {
    let keys = 101u64;
    for code in [&DENSE, &QUICK] {
        let section = code.section();
        let check = |label: &str, fault: Option<(u64, &dyn Fn(Streams) -> Streams)>, expected: &str| {
            let streams = (0..keys).fold(Streams::default(), |streams, i| match fault {
                Some((at, change)) if at == i => change(streams),
                _ => streams.far(2 << 32, i as u32),
            });
            let last = (2 * keys) << 32;
            let bytes = segment_with(CODEC, section.clone(), &[(FLIPS, keys as u16 + 1, last, streams.bytes(code))]);
            match fault {
                None => {
                    let own = (0..keys).map(|i| (2 * i + 1) << 32 | i).chain([last]);
                    accepted(label, &bytes, &own.map(|fingerprint| Record::new(fingerprint, 1)).collect::<Vec<_>>());
                }
                Some((at, _)) => refused(&format!("{label}, key {at}"), &bytes, Read, expected),
            }
        };
        check("many", None, "");
        for at in [1, 7, 8, 15, 16, 17, 31, 50, 63, 64, 90, 99, 100] {
            check("a rank that no set has", Some((at, &|streams| streams.ranked(0, 2, 3, 3))), ORDER);
            check("another rank", Some((at, &|streams| streams.ranked(0, 4, 9, 84))), ORDER);
            check("one key twice", Some((at, &|streams| streams.far(0, at as u32 - 1))), ORDER);
            check("a key before", Some((at, &|streams| streams.far(0, (at as u32).saturating_sub(2)))), ORDER);
        }
    }
    // The same keys with bits between the lanes or before the values, or with one more key in the index.
    for code in [&DENSE, &QUICK] {
        let streams = (0..keys).fold(Streams::default(), |streams, i| streams.far(2 << 32, i as u32));
        let block = streams.bytes(code);
        let with = |block: Vec<u8>, count: u64| {
            segment_with(CODEC, code.section(), &[(FLIPS, count as u16 + 1, (2 * keys) << 32, block)])
        };
        let [even, odd, values] = streams.parts(code);
        let start = 8 + even.0.len().next_multiple_of(8);
        for (label, bits, message) in [
            ("padding between the lanes", 8 + even.0.len()..start, FILL),
            ("padding before the values", start + odd.0.len()..8 * block.len() - values.0.len(), PADDING),
        ] {
            assert!(!bits.is_empty(), "{label}");
            for bit in bits {
                let mut padded = block.clone();
                padded[bit / 8] |= 1 << (bit % 8);
                refused(label, &with(padded, keys), Read, message);
            }
        }
        for count in [keys - 2, keys - 1, keys + 1] {
            refused(&format!("{count} keys"), &with(block.clone(), count), Read, "");
        }
    }
}
