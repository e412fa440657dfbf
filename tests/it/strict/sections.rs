//! Codes, block index, pages, and tables that have to agree.

use super::When::{Open, Read, Verify};
use super::parts::{Manifest, Parts, chunk, placed, store};
use super::{Case, accepted, base, each, refused, sample};
use crate::support::*;
use fpstore::{Codec, Design, ErrorKind, Parameters, ReadMode, Record, Store};

const INCOMPLETE: &str = "code is not complete";
const MISSING: &str = "a symbol that has to have a code has none";
const CHUNK: &str = "an index chunk's header is not possible";
const FINGERPRINTS: &str = "does not hold the segment's fingerprints";

/// Where the flips begin in the codes section.
const FLIPS: usize = 46;

fn length(codes: &[u8], alphabet: usize, symbol: usize) -> u8 {
    (codes[alphabet + symbol / 2] >> (4 * (symbol % 2))) & 15
}

fn set_length(codes: &mut [u8], alphabet: usize, symbol: usize, length: u8) {
    let (byte, shift) = (&mut codes[alphabet + symbol / 2], 4 * (symbol % 2));
    *byte = (*byte & !(15 << shift)) | (length << shift);
}

/// Takes the code of one of the first `needed` symbols away and gives it to another one: the code stays complete.
fn take_code(codes: &mut [u8], alphabet: usize, needed: usize) {
    let pairs = (0..needed).flat_map(|a| (a + 1..needed).map(move |b| (a, b)));
    let mut alike = pairs.filter(|&(a, b)| length(codes, alphabet, a) == length(codes, alphabet, b));
    let (a, b) = alike.find(|&(a, _)| length(codes, alphabet, a) > 1).unwrap();
    let shorter = length(codes, alphabet, b) - 1;
    set_length(codes, alphabet, a, 0);
    set_length(codes, alphabet, b, shorter);
}

/// Makes one code longer or shorter.
fn stretch(codes: &mut [u8], alphabet: usize, by: i8) {
    let symbol = (0..64).find(|&symbol| (2..12).contains(&length(codes, alphabet, symbol))).unwrap();
    let changed = length(codes, alphabet, symbol).wrapping_add_signed(by);
    set_length(codes, alphabet, symbol, changed);
}

#[test]
fn codes() {
    const PADDING: &str = "padding of the code lengths is not zero";
    const CASES: [Case; 12] = [
        ("padding of gap", Open, PADDING, |p| p.sections[1][45] |= 0x10),
        ("padding of flips", Open, PADDING, |p| p.sections[4][334] |= 0x80),
        ("too long a code", Open, "code length 13 exceeds 12", |p| set_length(&mut p.sections[1], 0, 7, 13)),
        ("incomplete gap", Open, INCOMPLETE, |p| stretch(&mut p.sections[1], 0, 1)),
        ("oversubscribed gap", Open, INCOMPLETE, |p| stretch(&mut p.sections[1], 0, -1)),
        ("incomplete flips", Open, INCOMPLETE, |p| stretch(&mut p.sections[4], FLIPS, 1)),
        ("oversubscribed flips", Open, INCOMPLETE, |p| stretch(&mut p.sections[4], FLIPS, -1)),
        ("a gap without a code", Open, MISSING, |p| take_code(&mut p.sections[1], 0, 91)),
        ("a length of gaps without a code", Open, MISSING, |p| take_code(&mut p.sections[4], FLIPS, 65)),
        ("the last length of gaps", Open, MISSING, |p| set_length(&mut p.sections[4], FLIPS, 64, 0)),
        ("longer", Open, "4 bytes too many", |p| {
            let checksum = placed(0x100, 0, &p.sections[1][..335]);
            p.sections[1][335..].copy_from_slice(&checksum);
            p.sections[1].extend([0; 4]);
        }),
        ("shorter", Open, "the file ends within 'code lengths'", |p| p.sections[4].truncate(200)),
    ];
    each(&base(), &CASES);
    let xor = Parts::of(&Parameters::new(3).with_codec(Codec::Xor), &sample());
    each(
        &xor,
        &[
            ("xor without a code", Open, MISSING, |p| take_code(&mut p.sections[1], 0, 64)),
            ("the last symbol of xor", Open, MISSING, |p| set_length(&mut p.sections[4], 0, 63, 0)),
            ("incomplete xor", Open, INCOMPLETE, |p| stretch(&mut p.sections[4], 0, 1)),
        ],
    );
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
    const CASES: [Case; 20] = [
        ("no blocks in a chunk", Open, CHUNK, |p| p.sections[2][..2].fill(0)),
        ("257 blocks in a chunk", Open, CHUNK, |p| p.sections[5][..2].fill(1)),
        ("65 gap bits", Open, CHUNK, |p| p.sections[2][2] = 65),
        ("17 count bits", Open, CHUNK, |p| p.sections[2][3] = 17),
        ("17 length bits", Open, CHUNK, |p| p.sections[5][4] = 17),
        ("too many", Open, "the index describes more blocks than the table has", |p| p.blocks[0] -= 1),
        ("too few", Open, "the file ends within field 'blocks in chunk'", |p| p.blocks[0] += 1),
        ("least gap", Open, "a block key exceeds 64 bits", |p| p.sections[2][5..13].fill(255)),
        ("sum of gaps", Open, "a block key exceeds 64 bits", |p| p.sections[5][12] |= 0x40),
        ("no keys", Open, "a block without keys", |p| p.sections[2][13..15].fill(0)),
        ("too many keys", Open, "a block without keys", |p| p.sections[2][13..15].fill(255)),
        ("no bytes", Open, "a block without bytes", |p| p.sections[2][15..17].fill(0)),
        ("too many bytes", Open, "a block without bytes", |p| p.sections[5][15..17].fill(255)),
        ("blocks fuller than the page", Open, "blocks do not fit their page", |p| add(&mut p.sections[2][15..], 9)),
        ("bytes behind", Open, "1 bytes too many", |p| p.sections[5].push(0)),
        ("more keys", Open, "table 0 does not hold the segment's fingerprints", |p| add(&mut p.sections[2][13..], 1)),
        ("more keys in table 1", Open, "table 1 does not", |p| add(&mut p.sections[5][13..], 1)),
        ("data too long", Open, "the index does not describe the table's pages", |p| p.sections[0].push(0)),
        ("data too short", Open, "the index does not describe the table's pages", |p| _ = p.sections[3].pop()),
        ("padding", Open, "padding of an index chunk is not zero", |p| {
            let index = &mut p.sections[2];
            let bits: usize =
                index[2..5].iter().map(|&width| usize::from(width)).sum::<usize>() * usize::from(index[0]);
            assert!(index[1] == 0 && !bits.is_multiple_of(8), "{bits} bits leave no padding; take another sample");
            let last = index.len() - 5;
            index[last] |= 0x80;
        }),
    ];
    each(&parts, &CASES);
    assert!(CASES.iter().any(|case| case.2.ends_with(FINGERPRINTS)));
}

/// One table, two keys in blocks of their own, and an index of two chunks.
fn two_blocks(first: u64, gap: u64) -> Parts {
    let records = [Record { fingerprint: 1, id: 0 }, Record { fingerprint: 2, id: 1 }];
    let design = Design::Tables { parts: 1 };
    let mut parts = Parts::of(&Parameters::new(3).with_design(design).with_codec(Codec::Xor), &records);
    parts.blocks[0] = 2;
    parts.sections[0] = vec![0; 6];
    parts.sections[2] = [first, gap].map(|gap| chunk(1, [0; 3], (gap, 1, 1), &[])).concat();
    parts
}

#[test]
fn keys_in_the_block_index() {
    let records = |keys: [u64; 2]| keys.map(|key| Record { fingerprint: key, id: u64::from(key != keys[0]) });
    accepted("two chunks", &two_blocks(7, 8).bytes(), &records([7, 16]));
    accepted("the greatest key at last", &two_blocks(7, u64::MAX - 8).bytes(), &records([7, u64::MAX]));
    refused("beyond the greatest", &two_blocks(7, u64::MAX - 7).bytes(), Open, "a block key exceeds 64 bits");
    let mut parts = two_blocks(7, 8);
    parts.sections[2] = [chunk(1, [1, 0, 0], (u64::MAX, 1, 1), &[1]), chunk(1, [0; 3], (8, 1, 1), &[])].concat();
    refused("a gap of 2^64", &parts.bytes(), Open, "a block key exceeds 64 bits");
    parts = two_blocks(7, 8);
    parts.sections[2].splice(0..0, chunk(0, [0; 3], (0, 0, 0), &[]));
    refused("an empty chunk", &parts.bytes(), Open, CHUNK);
    refused("the greatest key before the last", &two_blocks(u64::MAX, 5).bytes(), Open, "keys after the last");
    let mut swapped = two_blocks(7, 8).bytes_with(|_| {}, |_| {});
    assert_eq!(swapped.len(), two_blocks(8, 7).bytes().len());
    let parts = two_blocks(7, 8);
    swapped = parts.bytes_with(
        |content| {
            let (first, second) = content.split_at_mut(parts.start(2) + 21);
            first[parts.start(2)..].swap_with_slice(&mut second[..21]);
        },
        |_| {},
    );
    refused("chunks in each other's place", &swapped, Open, "checksum is");
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
    let store = Store::open_read_only(&fixture.path, &fixture.options).unwrap();
    let error = store.query(changed ^ (1 << 63) ^ 1 ^ (1 << 40), 3).unwrap_err();
    assert_eq!(error.message(), "a fingerprint of another table is missing in the first");
    assert_eq!(error.kind(), ErrorKind::Damaged);
}
