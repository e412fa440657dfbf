//! Codes, block index, pages, and tables that must agree.

use super::When::{Open, Read, Verify};
use super::blocks::Body;
use super::files::{Manifest, store};
use super::flips;
use super::parts::{Parts, chunk, index, placed};
use super::{Case, accepted, base, each, refused, sample};
use crate::support::*;
use fpstore::{Codec, Design, ErrorKind, Parameters, ReadMode, Record, Store};

const INCOMPLETE: &str = "code is not complete";
const MISSING: &str = "a symbol that has to have a code has none";
const CHUNK: &str = "an index chunk's header is not possible";
const FINGERPRINTS: &str = "does not hold the segment's fingerprints";
const ROWS: &str = "an index chunk with another number of blocks than it should have";
const KIND: &str = "a block whose kind, count or length its table does not have";
const NO_KIND: &str = "a kind of block that does not exist";

fn length(codes: &[u8], symbol: usize) -> u8 {
    (codes[symbol / 2] >> (4 * (symbol % 2))) & 15
}

fn set_length(codes: &mut [u8], symbol: usize, length: u8) {
    let (byte, shift) = (&mut codes[symbol / 2], 4 * (symbol % 2));
    *byte = (*byte & !(15 << shift)) | (length << shift);
}

/// Moves the code of one of the first `needed` symbols to another one: the code stays complete.
fn take_code(codes: &mut [u8], needed: usize) {
    let pairs = (0..needed).flat_map(|a| (a + 1..needed).map(move |b| (a, b)));
    let mut alike = pairs.filter(|&(a, b)| length(codes, a) == length(codes, b));
    let (a, b) = alike.find(|&(a, _)| length(codes, a) > 1).unwrap();
    let shorter = length(codes, b) - 1;
    set_length(codes, a, 0);
    set_length(codes, b, shorter);
}

/// Makes one code longer or shorter.
fn stretch(codes: &mut [u8], by: i8) {
    let symbol = (0..64).find(|&symbol| (2..12).contains(&length(codes, symbol))).unwrap();
    let changed = length(codes, symbol).wrapping_add_signed(by);
    set_length(codes, symbol, changed);
}

#[test]
fn codes_of_xor() {
    const CASES: [Case; 8] = [
        ("a symbol without a code", Open, MISSING, |p| take_code(&mut p.sections[1], 64)),
        ("the last symbol", Open, MISSING, |p| set_length(&mut p.sections[4], 63, 0)),
        ("too long", Open, "code length 13 exceeds 12", |p| set_length(&mut p.sections[1], 7, 13)),
        ("the last one too long", Open, "code length 15 exceeds 12", |p| set_length(&mut p.sections[4], 63, 15)),
        ("incomplete", Open, INCOMPLETE, |p| stretch(&mut p.sections[4], 1)),
        ("oversubscribed", Open, INCOMPLETE, |p| stretch(&mut p.sections[1], -1)),
        ("longer", Open, "4 bytes too many", |p| {
            let checksum = placed(0x100, 0, &p.sections[1][..32]);
            p.sections[1][32..].copy_from_slice(&checksum);
            p.sections[1].extend([0; 4]);
        }),
        ("shorter", Open, "the file ends within 'code lengths'", |p| p.sections[4].truncate(31)),
    ];
    each(&Parts::of(&Parameters::new(3).with_codec(Codec::Xor), &sample()), &CASES);
}

/// A segment without flips blocks, with this code in both tables.
fn with_codes(codes: &[u8]) -> Parts {
    let mut parts = base();
    for section in [1, 4] {
        assert_eq!(parts.sections[section][..2], [0, 0], "there is a code; take another sample");
        parts.sections[section] = [codes, &[0; 4]].concat();
    }
    parts
}

/// Takes bytes from the end of a section's flips code, or adds zeros.
fn resize_code(section: &mut Vec<u8>, by: isize) {
    let mut code = section[2..section.len() - 4].to_vec();
    code.resize(code.len().wrapping_add_signed(by), 0);
    *section = [flips::wrapped(&code), vec![0; 4]].concat();
}

#[test]
fn flips_codes() {
    const SHORT: &str = "a flips code does not fill its bytes";
    const END: &str = "the file ends within 'flips code'";
    const CASES: [Case; 9] = [
        ("padding", Open, "padding of the code lengths is not zero", |p| {
            let last = p.sections[1].len() - 5;
            assert_eq!(p.sections[1][last] & 0x80, 0);
            p.sections[1][last] |= 0x80;
        }),
        ("five bytes more than there are", Open, END, |p| add(&mut p.sections[4], 5)),
        ("many bytes more than there are", Open, END, |p| p.sections[1][..2].fill(255)),
        ("a byte less", Open, SHORT, |p| resize_code(&mut p.sections[1], -1)),
        ("a byte more", Open, SHORT, |p| resize_code(&mut p.sections[4], 1)),
        ("one byte of a code", Open, SHORT, |p| p.sections[1] = vec![1, 0, 0, 0, 0, 0, 0]),
        ("half a length", Open, "the file ends within", |p| p.sections[1] = vec![0]),
        ("a code that is said not to be there", Open, "checksum is", |p| p.sections[4][..2].fill(0)),
        ("bytes behind the code", Open, "4 bytes too many", |p| {
            let end = p.sections[4].len() - 4;
            let checksum = placed(0x101, 0, &p.sections[4][..end]);
            p.sections[4][end..].copy_from_slice(&checksum);
            p.sections[4].extend([0; 4]);
        }),
    ];
    accepted("no code", &base().bytes(), &sample());
    let parts = with_codes(&flips::QUICK.section());
    accepted("a code that no block uses", &parts.bytes(), &sample());
    each(&parts, &CASES);
}

#[test]
fn lengths_of_flips_codes() {
    const CANNOT: &str = "a symbol that cannot occur has a code";
    let segment = |biased: u32, mut coded: Vec<(u64, u8)>| {
        coded.sort_unstable();
        with_codes(&flips::section(biased, &coded)).bytes()
    };
    let wrong = |label: &str, biased: u32, coded: Vec<(u64, u8)>, message: &str| {
        refused(label, &segment(biased, coded), Open, message);
    };
    // A code that is sound except for one symbol or its length.
    let biased = flips::DENSE.biased;
    let sound: Vec<(u64, u8)> = flips::DENSE.symbols().into_iter().map(|symbol| (symbol, 6)).collect();
    let with = |at: usize, coded: (u64, u8)| {
        let mut all = sound.clone();
        all[at] = coded;
        all
    };
    for at in [0, 13, 26] {
        let mut missing = sound.clone();
        missing.remove(at);
        missing[62].1 = 5;
        wrong(&format!("no word for a gap of {at} bits"), biased, missing, MISSING);
        wrong("the word of another symbol instead", biased, with(at, (flips::symbol(3, 3, 33), 6)), MISSING);
    }
    for at in [0, 5, 40, 63] {
        wrong("incomplete", biased, with(at, (sound[at].0, 7)), INCOMPLETE);
        wrong("oversubscribed", biased, with(at, (sound[at].0, 5)), INCOMPLETE);
        for length in [13, 14, 15] {
            wrong("too long", biased, with(at, (sound[at].0, length)), &format!("code length {length} exceeds 12"));
        }
    }
    let group = |length: u64, value: u64| 27 + 32 * length + value;
    wrong("a value of three biased bits", biased, with(40, (group(4, 4), 6)), CANNOT);
    wrong("a value of five biased bits", biased, with(40, (group(26, 31), 6)), CANNOT);
    wrong("values of two biased bits where one is", 1 << 31, sound.clone(), CANNOT);
    wrong("values of biased bits where none are", 0, sound.clone(), CANNOT);
    wrong("six biased bits", 0b1_1111_0010, sound.clone(), "too many biased bits");
    wrong("all bits biased", u32::MAX, sound.clone(), "too many biased bits");
    for biased in [0b11, 0xc000_0000, 0b1_1111, 0xf100_0000] {
        accepted("two to five biased bits", &segment(biased, sound.clone()), &sample());
    }
    accepted("a value of five", &segment(0b1_1111, with(40, (group(26, 31), 6))), &sample());
    for (flips, top) in [(2, 0), (3, 0), (3, 1), (8, 0), (8, 6)] {
        for back in [0, 7, 15] {
            let label = format!("{flips} flips from bit {top}, {back} keys before");
            wrong(&label, biased, with(63, (flips::symbol(back, flips, top), 6)), CANNOT);
        }
    }
    // Words of 10 and 11 bits.
    let many = |short: usize, long: usize| {
        let row = |back: u64, flips: u64| (flips - 1..64).map(move |top| flips::symbol(back, flips, top));
        let flips = (0..16).flat_map(|back| (1..=8).flat_map(move |flips| row(back, flips)));
        let lengths = std::iter::repeat_n(10, short).chain(std::iter::repeat_n(11, long));
        (0..27).chain(flips).zip(lengths).collect::<Vec<(u64, u8)>>()
    };
    accepted("1,536 symbols", &segment(0, many(512, 1024)), &sample());
    wrong("1,537 symbols", 0, many(511, 1026), "1537 symbols have a code, 1536 is the most");
}

#[test]
fn rows_of_flips_codes() {
    const ROW: &str = "a row of code lengths is not possible";
    const ENDS: &str = "a row of code lengths begins or ends without a code";
    /// First and last position, lengths.
    type Row<'a> = (u64, u64, &'a [u64]);
    // One biased bit, the row of gaps, and optionally one other row.
    let code = |gaps: Row<'_>, other: Option<(usize, Row<'_>)>| {
        let with = |body: Body, (first, last, lengths): Row<'_>| {
            let body = body.value(1, 1).value(first, 6).value(last, 6);
            lengths.iter().fold(body, |body, &length| body.value(length, 4))
        };
        let body = (1..156).fold(with(Body::default().value(1, 32), gaps), |body, number| match other {
            Some((own, row)) if own == number => with(body, row),
            _ => body.value(0, 1),
        });
        with_codes(&flips::wrapped(&body.bytes())).bytes()
    };
    // Complete: 5 words of four bits, 22 of five.
    let lengths: [u64; 27] = std::array::from_fn(|gap| if gap < 5 { 4 } else { 5 });
    accepted("gaps alone", &code((0, 26, &lengths), None), &sample());
    for end in [0, 26] {
        let mut lengths = lengths;
        lengths[end] = 0;
        refused("0 at an end", &code((0, 26, &lengths), None), Open, ENDS);
    }
    refused("a first place behind the last", &code((26, 25, &[]), None), Open, ROW);
    refused("place 27 of gaps", &code((0, 27, &[5; 28]), None), Open, ROW);
    refused("place 63 of gaps", &code((0, 63, &[5; 64]), None), Open, ROW);
    let others: [(&str, usize, Row<'_>, &str); 7] = [
        ("biased bits, the first behind the last", 5, (3, 2, &[]), ROW),
        ("place 32 of biased bits", 27, (32, 32, &[5]), ROW),
        ("place 63 of biased bits", 1, (0, 63, &[5; 64]), ROW),
        ("no length of biased bits", 2, (1, 1, &[0]), ENDS),
        ("flips, the first behind the last", 28, (63, 62, &[]), ROW),
        ("no first length of flips", 155, (8, 9, &[0, 5]), ENDS),
        ("no last length of flips", 155, (8, 9, &[5, 0]), ENDS),
    ];
    for (label, number, row, message) in others {
        refused(label, &code((0, 26, &lengths), Some((number, row))), Open, message);
    }
    // Replaces one of the words of four bits by two of five.
    let mut fewer = lengths;
    fewer[0] = 5;
    for (number, place) in [(1, 0), (1, 1), (27, 1), (28, 0), (28, 63), (155, 7), (155, 63)] {
        let bytes = code((0, 26, &fewer), Some((number, (place, place, &[5]))));
        accepted(&format!("row {number}, place {place}"), &bytes, &sample());
    }
}

#[test]
fn checksums_of_units() {
    let parts = base();
    for (section, when, message) in [
        (0, Read, "checksum of a page does not hold"),
        (1, Open, "checksum is"),
        (2, Open, "checksum is"),
        (3, Verify, "checksum of a page does not hold"),
        (4, Open, "checksum is"),
        (5, Open, "checksum is"),
        (6, Read, "checksum of a page does not hold"),
        (7, Open, "checksum is"),
    ] {
        let at = parts.start(section) + parts.sections[section].len() - 1;
        refused(&format!("section {section}"), &parts.bytes_with(|bytes| bytes[at] ^= 1, |_| {}), when, message);
    }
}

fn add(bytes: &mut [u8], more: u16) {
    let sum = u16::from_le_bytes([bytes[0], bytes[1]]) + more;
    bytes[..2].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn block_index() {
    let parts = base();
    assert!(parts.blocks[0] % 32 > 1 && parts.sections[2][3] > 0);
    const CASES: [Case; 23] = [
        ("no blocks in a chunk", Open, CHUNK, |p| p.sections[2][..2].fill(0)),
        ("257 blocks in a chunk", Open, CHUNK, |p| p.sections[5][..2].fill(1)),
        ("65 gap bits", Open, CHUNK, |p| p.sections[2][2] = 65),
        ("17 count bits", Open, CHUNK, |p| p.sections[2][3] = 17),
        ("17 length bits", Open, CHUNK, |p| p.sections[5][4] = 17),
        ("7 kind bits", Open, CHUNK, |p| p.sections[2][5] = 7),
        ("255 kind bits", Open, CHUNK, |p| p.sections[5][5] = 255),
        ("too many", Open, ROWS, |p| p.blocks[0] -= 1),
        ("too few", Open, ROWS, |p| p.blocks[0] += 1),
        ("least gap", Open, "a block key exceeds 64 bits", |p| p.sections[2][6..14].fill(255)),
        ("sum of gaps", Open, "a block key exceeds 64 bits", |p| p.sections[5][13] |= 0x40),
        ("no keys", Open, "a block without keys", |p| p.sections[2][14..16].fill(0)),
        ("too many keys", Open, "a block without keys", |p| p.sections[2][14..16].fill(255)),
        ("blocks fuller than the page", Open, "blocks do not fit their page", |p| add(&mut p.sections[2][16..], 9)),
        ("emptier blocks", Open, "the index does not describe the table's pages", |p| p.sections[5][16..18].fill(0)),
        ("a kind that no block has", Open, NO_KIND, |p| p.sections[2][18] = 57),
        ("a kind of another codec", Open, KIND, |p| p.sections[5][18] = 63),
        ("bytes behind", Open, "1 bytes too many", |p| p.sections[5].push(0)),
        ("more keys", Open, "table 0 does not hold the segment's fingerprints", |p| add(&mut p.sections[2][14..], 1)),
        ("more keys in table 1", Open, "table 1 does not", |p| add(&mut p.sections[5][14..], 1)),
        ("data too long", Open, "the index does not describe the table's pages", |p| p.sections[0].push(0)),
        ("data too short", Open, "the index does not describe the table's pages", |p| _ = p.sections[3].pop()),
        ("padding", Open, "padding of an index chunk is not zero", |p| {
            let index = &mut p.sections[5];
            let bits: usize =
                index[2..6].iter().map(|&width| usize::from(width)).sum::<usize>() * usize::from(index[0]);
            assert!(index[1] == 0 && !bits.is_multiple_of(8), "{bits} bits leave no padding; take another sample");
            let last = index.len() - 5;
            index[last] |= 0x80;
        }),
    ];
    each(&parts, &CASES);
    assert!(CASES.iter().any(|case| case.2.ends_with(FINGERPRINTS)));
}

/// One table, and two keys in separate blocks.
fn two_blocks(first: u64, gap: u64) -> Parts {
    with_index(Codec::Xor, index(&[first, gap].map(|gap| (gap, 1, 0, 63))))
}

/// The same with this index; the blocks have no bytes.
fn with_index(codec: Codec, index: Vec<u8>) -> Parts {
    let records = [Record::new(1, 0), Record::new(2, 1)];
    let design = Design::Tables { parts: 1 };
    let mut parts = Parts::of(&Parameters::new(3).with_design(design).with_codec(codec), &records);
    parts.blocks[0] = 2;
    parts.sections[0] = vec![0; 4];
    if codec == Codec::Adaptive {
        parts.sections[1] = [flips::DENSE.section(), vec![0; 4]].concat();
    }
    parts.sections[2] = index;
    parts
}

#[test]
fn keys_in_the_block_index() {
    let records = |keys: [u64; 2]| keys.map(|key| Record::new(key, u64::from(key != keys[0])));
    accepted("two blocks", &two_blocks(7, 8).bytes(), &records([7, 16]));
    accepted("the greatest key at last", &two_blocks(7, u64::MAX - 8).bytes(), &records([7, u64::MAX]));
    refused("beyond the greatest", &two_blocks(7, u64::MAX - 7).bytes(), Open, "a block key exceeds 64 bits");
    let mut parts = two_blocks(7, 8);
    parts.sections[2] = chunk(2, [1, 0, 0, 0], (u64::MAX, 1, 0, 63), &[1]);
    refused("a gap of 2^64", &parts.bytes(), Open, "a block key exceeds 64 bits");
    parts = two_blocks(7, 8);
    parts.sections[2].splice(0..0, chunk(0, [0; 4], (0, 0, 0, 63), &[]));
    refused("an empty chunk", &parts.bytes(), Open, CHUNK);
    parts.sections[2] = [7, 8].map(|gap| index(&[(gap, 1, 0, 63)])).concat();
    refused("a chunk a block", &parts.bytes(), Open, ROWS);
    refused("the greatest key before the last", &two_blocks(u64::MAX, 5).bytes(), Open, "keys after the last");
}

#[test]
fn lengths_in_the_block_index() {
    let lengths =
        |least: u16, column: u8| with_index(Codec::Xor, chunk(2, [0, 0, 1, 0], (7, 1, least, 63), &[column])).bytes();
    accepted("no bytes", &lengths(0, 0), &[Record::new(7, 0), Record::new(15, 1)]);
    refused("2^16", &lengths(65_535, 1), Open, "a block too long");
    refused("more than any page", &lengths(65_535, 0), Open, "blocks do not fit their page");
    refused("two that fit only alone", &lengths(2046, 2), Open, "blocks do not fit their page");
    refused("bytes that are not there", &lengths(2046, 0), Open, "the index does not describe the table's pages");
}

#[test]
fn kinds_in_the_block_index() {
    let records = [Record::new(7, 0), Record::new(15, 1)];
    // Two blocks; the bits of the column, its least value, and the excesses of the blocks.
    let kinds = |codec, bits: u8, least: u8, own: [u16; 2]| {
        let column = (own[0] | own[1] << bits).to_le_bytes();
        let column = &column[..usize::from(bits).div_ceil(4)];
        with_index(codec, chunk(2, [0, 0, 0, bits], (7, 1, 0, least), column)).bytes()
    };
    for kind in 0..=255 {
        for codec in Codec::ALL {
            let exists = match codec {
                Codec::Xor => kind == 63,
                _ => kind <= 56 || kind == 62,
            };
            let same = [(kinds(codec, 0, kind, [0, 0]), "least"), (kinds(codec, 6, 0, [kind.into(); 2]), "own")];
            for (bytes, what) in same.into_iter().filter(|(_, what)| *what == "least" || kind < 64) {
                let label = format!("{what} kind {kind} in codec {codec}");
                let message = if kind <= 56 || (61..=63).contains(&kind) { KIND } else { NO_KIND };
                if exists { accepted(&label, &bytes, &records) } else { refused(&label, &bytes, Open, message) }
            }
        }
    }
    const CODEC: Codec = Codec::Adaptive;
    accepted("gap and flips", &kinds(CODEC, 4, 50, [6, 12]), &records);
    accepted("flips and gap", &kinds(CODEC, 6, 0, [62, 56]), &records);
    refused("gap and none", &kinds(CODEC, 4, 50, [6, 7]), Open, NO_KIND);
    refused("gap and rows", &kinds(CODEC, 4, 50, [6, 11]), Open, KIND);
    refused("flips and xor", &kinds(CODEC, 1, 62, [0, 1]), Open, KIND);
    refused("flips and xor in a table of xor", &kinds(Codec::Xor, 1, 62, [0, 1]), Open, KIND);
    // Sums that would be valid kinds modulo 2^8 or 2^6.
    refused("62 more than 2^8", &kinds(CODEC, 6, 255, [63, 63]), Open, NO_KIND);
    refused("0 more than 2^8", &kinds(CODEC, 1, 255, [1, 1]), Open, NO_KIND);
    refused("0 more than 2^6", &kinds(CODEC, 6, 1, [63, 63]), Open, NO_KIND);
    refused("seven bits", &kinds(CODEC, 7, 0, [56, 62]), Open, CHUNK);
}

#[test]
fn padding_of_pages() {
    let parts = base();
    assert!(parts.sections[0][4091] == 0 && parts.sections[3][4091] == 0);
    each(
        &parts,
        &[
            ("table 0", Verify, "padding of a page is not zero", |p| p.sections[0][4091] = 1),
            ("table 1", Verify, "padding of a page is not zero", |p| p.sections[3][4091] = 0x80),
        ],
    );
}

#[test]
fn tables_that_hold_different_fingerprints() {
    let parameters = Parameters::new(3).with_block_size(128);
    let own = numbered(&uniform(5000, 32));
    let mut others = own.clone();
    let changed = others[77].fingerprint ^ (1 << 63);
    others[77].fingerprint = changed;
    let (mut parts, other) = (Parts::of(&parameters, &own), Parts::of(&parameters, &others));
    parts.sections[3..6].clone_from_slice(&other.sections[3..6]);
    parts.blocks[1] = other.blocks[1];
    let bytes = parts.bytes();
    refused("tables", &bytes, Verify, "the tables do not hold the same fingerprints");
    let fixture = store(Manifest::naming(&[&bytes]).bytes(), &[&bytes], ReadMode::Mmap);
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
    let error = store.query(changed ^ (1 << 63) ^ 1 ^ (1 << 40), 3).unwrap_err();
    assert_eq!(error.message(), "a fingerprint of another table is missing in the first");
    assert_eq!(error.kind(), ErrorKind::Damaged);
}
