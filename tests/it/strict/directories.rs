//! The directory of an index of several chunks, and the chunks that it describes.

use super::When::{Open, Read, Verify};
use super::parts::{CHUNK, DIRECTORY, Parts, placed};
use super::{Case, accepted, each, refused};
use crate::support::*;
use fpstore::{Parameters, Record};

const HEADER: &str = "the header of an index directory is not possible";
const BOUNDARIES: &str = "the header of index boundaries is not possible";
const UNLIKE: &str = "the directory of an index does not describe its chunks";

fn records() -> Vec<Record> {
    let mut records = numbered(&uniform(15_000, 34));
    records.sort_unstable();
    records
}

/// A segment whose indexes have three chunks.
fn base() -> Parts {
    let parts = Parts::of(&Parameters::new(3).with_block_size(128), &records());
    assert!(parts.blocks.iter().all(|&blocks| blocks > 513 && blocks < 768), "{:?}", parts.blocks);
    parts
}

/// Bytes of a chunk without its checksum, given those before its columns and the number of these.
fn length(chunk: &[u8], header: usize, columns: usize) -> usize {
    let bits: usize = chunk[2..2 + columns].iter().map(|&width| usize::from(width)).sum();
    header + (usize::from(u16::from_le_bytes([chunk[0], chunk[1]])) * bits).div_ceil(8)
}

fn boundaries(section: &mut [u8]) -> &mut [u8] {
    let at = length(section, DIRECTORY, 3) + 4;
    &mut section[at..]
}

/// A chunk of the index, and all bytes behind it.
pub(crate) fn index_chunk(section: &mut [u8], number: usize) -> &mut [u8] {
    let mut rest = boundaries(section);
    let at = length(rest, 11, 1) + 4;
    rest = &mut rest[at..];
    for _ in 0..number {
        let at = length(rest, CHUNK, 4) + 4;
        rest = &mut rest[at..];
    }
    rest
}

#[test]
fn directories_and_their_chunks() {
    let base = base();
    accepted("three chunks", &base.bytes(), &records());
    const CASES: [Case; 22] = [
        ("no chunks described", Open, HEADER, |p| p.sections[2][..2].fill(0)),
        ("257 chunks described", Open, HEADER, |p| p.sections[5][..2].fill(1)),
        ("65 gap bits", Open, HEADER, |p| p.sections[2][2] = 65),
        ("25 bits of keys", Open, HEADER, |p| p.sections[2][3] = 25),
        ("17 length bits", Open, HEADER, |p| p.sections[2][4] = 17),
        ("a directory chunk of two", Open, "an index directory with another number", |p| {
            let columns = DIRECTORY..length(&p.sections[2], DIRECTORY, 3);
            p.sections[2].drain(columns);
            p.sections[2][..5].copy_from_slice(&[2, 0, 0, 0, 0]);
        }),
        ("a block too many", Open, "an index chunk with another number of blocks", |p| p.blocks[0] -= 1),
        ("a key beyond 64 bits", Open, "a number of an index directory exceeds", |p| p.sections[2][5..13].fill(255)),
        ("more keys", Open, UNLIKE, |p| p.sections[2][13] ^= 1),
        ("no key could be so many", Open, "keys or length of an index chunk", |p| p.sections[2][16] = 1),
        ("longer chunks", Open, "the chunks of the index do not fill", |p| p.sections[5][21] ^= 1),
        ("chunks beyond the section", Open, "keys or length of an index chunk", |p| p.sections[5][21..23].fill(255)),
        ("63 boundaries", Open, "boundaries of an index", |p| boundaries(&mut p.sections[2])[0] = 63),
        ("65 boundaries", Open, BOUNDARIES, |p| boundaries(&mut p.sections[2])[0] = 65),
        ("65 bits of boundaries", Open, BOUNDARIES, |p| boundaries(&mut p.sections[5])[2] = 65),
        ("other boundaries", Verify, UNLIKE, |p| boundaries(&mut p.sections[2])[3] += 1),
        ("7 kind bits", Read, "an index chunk's header", |p| index_chunk(&mut p.sections[2], 0)[5] = 7),
        ("no keys", Read, "a block without keys", |p| index_chunk(&mut p.sections[2], 1)[14..16].fill(0)),
        ("a kind that no block has", Read, "a kind of block that does not", |p| {
            let kind = &mut index_chunk(&mut p.sections[2], 0)[18];
            *kind = 57.max(*kind);
        }),
        ("another last key", Read, UNLIKE, |p| index_chunk(&mut p.sections[2], 0)[6] ^= 1),
        ("another key in table 1", Verify, UNLIKE, |p| index_chunk(&mut p.sections[5], 1)[6] ^= 1),
        ("a key beyond 64 bits in the last chunk", Open, "a block key exceeds", |p| {
            index_chunk(&mut p.sections[5], 2)[6..14].fill(255);
        }),
    ];
    each(&base, &CASES);
}

#[test]
fn checksums_of_directories_and_chunks() {
    let base = base();
    let start = base.start(2);
    let mut section = base.sections[2].clone();
    let directory = length(&section, DIRECTORY, 3);
    let first = section.len() - index_chunk(&mut section, 0).len();
    let second = section.len() - index_chunk(&mut section, 1).len();
    // The unit, the stream and the number that it would have elsewhere, and the time of detection.
    for (label, unit, stream, number, when) in [
        ("another directory", 0..directory, 0x700, 1, Open),
        ("the directory of another table", 0..directory, 0x701, 0, Open),
        ("another chunk", first..second - 4, 0x200, 1, Read),
        ("a chunk of another table", first..second - 4, 0x201, 0, Read),
    ] {
        let own = if stream & 0x700 == 0x700 { 0x700 } else { 0x200 };
        for (stream, number, is_sound) in [(own, 0, true), (stream, number, false)] {
            let bytes = base.bytes_with(
                |content| {
                    let seal = placed(stream, number, &content[start..][unit.clone()]);
                    content[start + unit.end..][..4].copy_from_slice(&seal);
                },
                |_| {},
            );
            if is_sound {
                accepted(label, &bytes, &records());
            } else {
                refused(label, &bytes, when, "checksum is");
            }
        }
    }
}
