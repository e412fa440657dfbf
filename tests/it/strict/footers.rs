//! Header, trailer, footer, parameters, places and counts.

use super::When::{Open, Unsupported, Verify};
use super::parts::{Parts, trailed};
use super::{Case, accepted, base, each, refused, sample};
use fpstore::{Parameters, Record};

const PLACES: &str = "sections overlap or leave a gap";
const COUNTS: &str = "the footer's counts contradict each other";

#[test]
fn header_and_trailer() {
    let parts = base();
    let bytes = parts.bytes();
    let end = bytes.len();
    let change = |at: usize, value: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    refused("magic", &parts.bytes_with(|content| content[3] ^= 1, |_| {}), Open, "the magic bytes are not 'fpsegmnt'");
    refused("header checksum", &parts.bytes_with(|content| content[13] ^= 1, |_| {}), Open, "checksum is");
    refused("end magic", &change(end - 1, b"D"), Open, "the magic bytes are not 'fpsegend'");
    refused("trailer checksum", &change(end - 12, b"none"), Open, "checksum is");
    let short = [&bytes[..16], &bytes[end - 15..]].concat();
    refused("too short", &short, Open, "a footer of ");
    let longer = (end as u32 - 31).to_le_bytes();
    refused(
        "more than the file has",
        &change(end - 16, &longer),
        Open,
        &format!("a footer of {} bytes does", end - 31),
    );
    let giant = parts.bytes_with(|_| {}, |footer| footer.resize(65_537, 0));
    refused("above 65,536", &giant, Open, "a footer of 65537 bytes does not fit the file");
    let twice = parts.bytes_with(|_| {}, |footer| *footer = trailed(footer.clone()));
    refused("two trailers", &twice, Open, "16 bytes too many");
    refused("short footer", &parts.bytes_with(|_| {}, |footer| footer.truncate(172)), Open, "checksum is");
    each(
        &parts,
        &[
            ("version 3", Unsupported, "format version 3; this program reads version 2", |p| p.header[8] = 3),
            ("version 1", Unsupported, "format version 1; this program reads version 2", |p| p.header[8] = 1),
            ("version 0", Unsupported, "format version 0; this program reads version 2", |p| p.header[8] = 0),
            ("content hash", Verify, "the hash of the whole content does not hold", |p| p.patch(28, [1; 8])),
        ],
    );
}

/// Changes of the 12 bytes of parameters: where, to what, whether that is unsupported (or damaged), and the message.
pub(super) const PARAMETERS: [(usize, &[u8], bool, &str); 20] = [
    (0, &[32, 0], true, "width 32 with id kind 1"),
    (2, &[65], false, "maximum distance 65 exceeds"),
    (3, &[3], true, "unknown design 3 (2, 0)"),
    (3, &[0, 0], false, ""),
    (3, &[0, 65], false, ""),
    (3, &[0, 2, 1], true, "unknown design 0 (2, 1)"),
    (3, &[1, 0, 5], false, ""),
    (3, &[1, 6, 5], false, ""),
    (3, &[1, 2, 65], false, ""),
    (3, &[1, 5, 12], false, ""),
    (3, &[2, 1, 4], false, ""),
    (3, &[2, 4, 0], false, ""),
    (3, &[2, 4, 49], false, ""),
    (3, &[2, 33, 8], false, ""),
    (6, &[2], true, "unknown codec 2"),
    (7, &[0], true, "width 64 with id kind 0"),
    (7, &[2], true, "width 64 with id kind 2"),
    (8, &[64, 0, 0, 0], false, "block size 64 is not possible"),
    (8, &[1, 2, 0, 0], false, "block size 513 is not possible"),
    (8, &[0, 0, 2, 0], false, "block size 131072 is not possible"),
];

#[test]
fn parameters() {
    for (at, value, unsupported, message) in PARAMETERS {
        let mut parts = base();
        parts.patch(at, value);
        let when = if unsupported { Unsupported } else { Open };
        refused(&format!("parameters {at} {value:?}"), &parts.bytes(), when, message);
    }
}

#[test]
fn places_of_sections() {
    let parts = base();
    for section in [0, 3, 6] {
        let mut parts = parts.clone();
        parts.align(section);
        accepted("aligned", &parts.bytes(), &sample());
        assert!(parts.padding[section].len() > 1);
        *parts.padding[section].last_mut().unwrap() = 1;
        refused("padding", &parts.bytes(), Verify, "padding between sections is not zero");
    }
    for section in 0..parts.sections.len() {
        let label = format!("section {section}");
        let mut early = parts.clone();
        let start = early.start(section) as u64;
        early.patch(early.place(section), (start - 1).to_le_bytes());
        refused(&format!("{label}, early"), &early.bytes(), Open, PLACES);
        let mut late = parts.clone();
        late.padding[section] = vec![0];
        refused(&format!("{label}, late"), &late.bytes(), Open, PLACES);
        let mut later = parts.clone();
        later.align(section);
        if [0, 3, 6].contains(&section) {
            later.padding[section].extend([0; 4096]);
        }
        refused(&format!("{label}, a page on"), &later.bytes(), Open, PLACES);
    }
    each(
        &parts,
        &[
            ("longer than any file", Open, PLACES, |p| p.patch(p.place(7) + 8, [255; 8])),
            ("longer than the file", Open, "the footer does not follow the last section", |p| {
                p.patch(p.place(7) + 8, [0, 0, 0, 0, 0, 0, 1, 0]);
            }),
            ("bytes before the footer", Open, "the footer does not follow the last section", |p| p.tail = vec![0]),
        ],
    );
}

#[test]
fn counts() {
    let few: Vec<Record> = (1..4).map(|i| Record { fingerprint: i << 50, id: 1 }).collect();
    let few = Parts::of(&Parameters::new(3), &few);
    const CASES: [Case; 9] = [
        ("fewer records", Open, COUNTS, |p| p.records = p.fingerprints - 1),
        ("no records", Open, COUNTS, |p| p.records = 0),
        ("no fingerprints", Open, COUNTS, |p| p.fingerprints = 0),
        ("more blocks than fingerprints", Open, COUNTS, |p| p.blocks[1] = 4),
        ("a table without blocks", Open, COUNTS, |p| {
            p.blocks[1] = 0;
            p.sections[3].clear();
            p.sections[5].clear();
        }),
        ("blocks of no fingerprints", Open, COUNTS, |p| (p.records, p.fingerprints) = (0, 0)),
        ("records of no fingerprints", Open, COUNTS, |p| {
            (p.fingerprints, p.blocks) = (0, vec![0, 0]);
            [0, 2, 3, 5].into_iter().for_each(|section| p.sections[section].clear());
        }),
        ("more records than pages hold", Open, "the footer's counts do not fit its sections", |p| p.records = 65_536),
        ("more blocks than pages hold", Open, "the footer's counts do not fit its sections", |p| p.blocks[1] += 16),
    ];
    each(&few, &CASES);
    each(
        &few,
        &[
            ("fewer fingerprints", Open, "table 0 does not hold the segment's fingerprints", |p| p.fingerprints = 2),
            ("more ids", Verify, "3 ids for 4 records", |p| p.records = 4),
        ],
    );
}

#[test]
fn a_segment_without_records_is_legal() {
    let mut parts = Parts::of(&Parameters::new(3), &[Record { fingerprint: 5, id: 5 }]);
    (parts.records, parts.fingerprints, parts.blocks) = (0, 0, vec![0, 0]);
    [0, 2, 3, 5, 6, 7].into_iter().for_each(|section| parts.sections[section].clear());
    accepted("empty", &parts.bytes(), &[]);
}
