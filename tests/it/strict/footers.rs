//! Header, trailer, footer, places and counts.

use super::When::{Open, Unsupported, Verify};
use super::parts::{Parts, trailed};
use super::{Case, accepted, base, each, refused, sample};
use fpstore::{IdKind, Parameters, Record};

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
    refused("short footer", &parts.bytes_with(|_| {}, |footer| footer.truncate(192)), Open, "checksum is");
    each(
        &parts,
        &[
            ("version 7", Unsupported, "format version 7; this program reads version 6", |p| p.header[8] = 7),
            ("version 5", Unsupported, "format version 5; this program reads version 6", |p| p.header[8] = 5),
            ("version 4", Unsupported, "format version 4; this program reads version 6", |p| p.header[8] = 4),
            ("version 3", Unsupported, "format version 3; this program reads version 6", |p| p.header[8] = 3),
            ("version 2", Unsupported, "format version 2; this program reads version 6", |p| p.header[8] = 2),
            ("version 1", Unsupported, "format version 1; this program reads version 6", |p| p.header[8] = 1),
            ("version 0", Unsupported, "format version 0; this program reads version 6", |p| p.header[8] = 0),
            ("content hash", Verify, "the hash of the whole content does not hold", |p| p.patch(32, [1; 8])),
        ],
    );
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
            ("an index longer than any file", Open, PLACES, |p| p.patch(p.place(7) + 8, [255; 8])),
            ("longer than any file", Open, PLACES, |p| p.patch(p.place(8) + 8, [255; 8])),
            ("longer than the file", Open, "the footer does not follow the last section", |p| {
                p.patch(p.place(8) + 8, [0, 0, 0, 0, 0, 0, 1, 0]);
            }),
            ("a dictionary that is not there", Open, "the footer does not follow the last section", |p| {
                p.patch(p.place(8) + 8, [1]);
            }),
            ("bytes before the footer", Open, "the footer does not follow the last section", |p| p.tail = vec![0]),
        ],
    );
}

#[test]
fn a_dictionary_of_ids_that_are_no_texts() {
    const DICTIONARY: &str = "a dictionary for ids that are no texts";
    let few: Vec<Record> = (1..4).map(|i| Record::new(i << 50, 1)).collect();
    for ids in [IdKind::Number, IdKind::None] {
        let parts = Parts::of(&Parameters::new(3).with_ids(ids), &few);
        assert!(parts.sections[8].is_empty());
        const CASES: [Case; 3] = [
            ("one byte", Open, DICTIONARY, |p| *p.id_dictionary() = vec![0]),
            ("a checksum", Open, DICTIONARY, |p| *p.id_dictionary() = vec![0; 4]),
            ("some bytes", Open, DICTIONARY, |p| *p.id_dictionary() = vec![7; 100]),
        ];
        each(&parts, &CASES);
    }
}

#[test]
fn counts() {
    let few: Vec<Record> = (1..4).map(|i| Record::new(i << 50, 1)).collect();
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
    let mut parts = Parts::of(&Parameters::new(3), &[Record::new(5, 5)]);
    (parts.records, parts.fingerprints, parts.blocks) = (0, 0, vec![0, 0]);
    [0, 2, 3, 5, 6, 7].into_iter().for_each(|section| parts.sections[section].clear());
    accepted("empty", &parts.bytes(), &[]);
}
