//! Pages of ids and their index.

use super::When::{Open, Read, Verify};
use super::parts::{Parts, placed};
use super::{Case, accepted, each, fixture, refused, segment};
use crate::support::*;
use fpstore::admin::verify;
use fpstore::{Id, IdKind, Parameters, Record, inspect};

const HEADER: &str = "the header of a page of ids is not possible";
const PADDING: &str = "padding of a page of ids is not zero";
const ORDER: &str = "ids of a fingerprint are not in ascending order";
const FEWER: &str = "the index of ids does not cover the segment's fingerprints";

/// Ids from 0 to 1,000, 10 bits each, and whether they begin a fingerprint: eight do.
const IDS: [(u16, bool); 11] = [
    (5, true),
    (9, true),
    (10, false),
    (3, true),
    (4, false),
    (900, false),
    (1, true),
    (0, true),
    (7, true),
    (7, true),
    (1000, true),
];

fn pack(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let bits: Vec<bool> = bits.collect();
    bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |value, &bit| value << 1 | u8::from(bit))).collect()
}

fn page(ids: &[(u16, bool)], last: bool) -> Vec<u8> {
    let mut out = (ids.len() as u16).to_le_bytes().to_vec();
    out.extend([1, 10, 1]);
    out.extend([0u64.to_le_bytes(), 1000u64.to_le_bytes()].concat());
    out.extend(pack(ids.iter().map(|&(_, begins)| begins)));
    out.extend(pack(ids.iter().flat_map(|&(id, _)| (0..10).map(move |bit| id >> bit & 1 == 1))));
    if !last {
        out.resize(4092, 0);
    }
    out.extend([0; 4]);
    out
}

fn index(counts: &[u16]) -> Vec<u8> {
    counts.iter().flat_map(|count| count.to_le_bytes()).chain([0; 4]).collect()
}

/// Eight fingerprints with these pages of ids.
fn with_pages(pages: &[&[(u16, bool)]]) -> Parts {
    let records: Vec<Record> = (0..8).map(|i| Record::new(i << 40, 0)).collect();
    let mut parts = Parts::of(&Parameters::new(3), &records);
    parts.records = pages.iter().map(|page| page.len() as u64).sum();
    let encoded = pages.iter().zip(1..).map(|(ids, number)| page(ids, number == pages.len()));
    *parts.ids() = encoded.collect::<Vec<_>>().concat();
    let begun = |page: &&[(u16, bool)]| page.iter().filter(|(_, begins)| *begins).count() as u16;
    *parts.id_index() = index(&pages.iter().map(begun).collect::<Vec<_>>());
    parts
}

fn records(ids: &[(u16, bool)]) -> Vec<Record> {
    let mut rank = 0;
    let each = ids.iter().map(|&(id, begins)| {
        rank += u64::from(begins);
        Record::new((rank - 1) << 40, u64::from(id))
    });
    each.collect()
}

#[test]
fn header_padding_and_room() {
    let base = with_pages(&[&IDS]);
    accepted("one page", &base.bytes(), &records(&IDS));
    const CASES: [Case; 16] = [
        ("no records", Read, HEADER, |p| p.ids()[..2].fill(0)),
        ("flags", Read, HEADER, |p| p.ids()[4] = 4),
        ("flags of groups", Read, "the header of groups of ids is not possible", |p| p.ids()[4] = 2),
        ("least id and span", Read, HEADER, |p| p.ids()[5..13].fill(255)),
        ("least id and span, just so", Read, HEADER, |p| {
            p.ids()[5..13].copy_from_slice(&(u64::MAX - 999).to_le_bytes())
        }),
        ("ids joined", Read, HEADER, |p| p.ids()[2] = 2),
        ("bits joined", Read, HEADER, |p| p.ids()[3] = 11),
        ("bitmap beyond the page", Read, "the file ends within 'first records'", |p| p.ids()[0] = 200),
        ("ids beyond the page", Read, "the file ends within 'ids'", |p| p.ids()[0] = 40),
        ("bits behind the bitmap", Read, PADDING, |p| p.ids()[22] |= 0x80),
        ("bits behind the ids", Read, PADDING, |p| p.ids()[36] |= 0x40),
        ("bytes behind the ids", Read, PADDING, |p| p.ids().insert(37, 1)),
        ("zero bytes behind the ids", Verify, "the last page of ids is longer than its ids", |p| p.ids().insert(37, 0)),
        ("the first begins nothing", Verify, ORDER, |p| p.ids()[21] ^= 0b101),
        ("not ascending", Verify, ORDER, |p| p.ids()[21] ^= 0b11000),
        ("ids twice", Verify, ORDER, |p| {
            p.ids()[21] ^= 0b100;
            p.ids()[22] ^= 0b10;
        }),
    ];
    each(&base, &CASES);
    let last = with_pages(&[&IDS[..8], &IDS[8..]]);
    each(&last, &[("padding of a page", Read, PADDING, |p| p.ids()[4000] = 1)]);
}

#[test]
fn an_id_beyond_its_pages_range() {
    let mut parts = with_pages(&[&IDS]);
    parts.ids()[35] |= 0xf0;
    parts.ids()[36] |= 0x3f;
    let fixture = fixture(&parts.bytes(), MODES[0]);
    let view = inspect::open(segment(), &fixture.options).unwrap().remove(0);
    let error = view.records::<u64>().unwrap().find_map(Result::err).unwrap();
    assert_eq!(error.message(), "an id exceeds its page's range");
    assert_eq!(verify(segment(), &fixture.options).unwrap().damages.len(), 1);
}

#[test]
fn a_number_that_is_greater_than_its_ids_make_it() {
    let mut parts = with_pages(&[&IDS]);
    parts.records = 8;
    // Eight ids of 0 to 2: five of them are at most 242, the other three 26.
    let set = |parts: &mut Parts, numbers: [u8; 2]| {
        let head = [&[8, 0, 5, 8, 0][..], &[0; 8], &[2, 0, 0, 0, 0, 0, 0, 0], &numbers, &[0; 4]];
        *parts.ids() = head.concat();
    };
    set(&mut parts, [242, 26]);
    let all_two = [(2, true); 8];
    accepted("the greatest numbers", &parts.bytes(), &records(&all_two));
    for numbers in [[243, 26], [242, 27], [0, 243]] {
        set(&mut parts, numbers);
        let message = "a number is greater than the ids that it joins";
        refused(&format!("{numbers:?}"), &parts.bytes(), Verify, message);
    }
}

#[test]
fn from_page_to_page() {
    accepted("two pages", &with_pages(&[&IDS[..4], &IDS[4..]]).bytes(), &records(&IDS));
    accepted("a page that begins nothing", &with_pages(&[&IDS[..4], &IDS[4..6], &IDS[6..]]).bytes(), &records(&IDS));
    let mut changed = IDS;
    changed[4] = (3, false);
    let equal = with_pages(&[&changed[..4], &changed[4..]]);
    refused("the same id in the next page", &equal.bytes(), Verify, ORDER);
    changed[4] = (2, false);
    let less = with_pages(&[&changed[..4], &changed[4..]]);
    refused("a lesser id in the next page", &less.bytes(), Verify, ORDER);
    let two = with_pages(&[&IDS[..4], &IDS[4..]]);
    const DISAGREE: &str = "a page of ids and its index disagree";
    const CASES: [Case; 9] = [
        ("too many begin", Verify, DISAGREE, |p| *p.id_index() = index(&[4, 4])),
        ("too few begin", Verify, DISAGREE, |p| *p.id_index() = index(&[2, 6])),
        ("more fingerprints", Open, FEWER, |p| *p.id_index() = index(&[3, 6])),
        ("fewer fingerprints", Open, FEWER, |p| *p.id_index() = index(&[3, 4])),
        ("longer index", Open, "4 bytes too many", |p| {
            let checksum = placed(0x400, 0, &[3, 0, 5, 0]);
            *p.id_index() = [&[3, 0, 5, 0][..], &checksum, &[0; 4]].concat();
        }),
        ("shorter index", Open, "the file ends within field 'checksum'", |p| _ = p.id_index().pop()),
        ("fewer records", Verify, "11 ids for 10 records", |p| p.records = 10),
        ("more records", Verify, "11 ids for 12 records", |p| p.records = 12),
        ("a last page of two bytes", Read, "page of no length", |p| {
            p.ids().extend([0; 4096]);
            let end = 2 * 4096 + 2;
            p.ids().truncate(end);
            *p.id_index() = index(&[3, 5, 0]);
            let rest = page(&IDS[4..], false);
            p.ids()[4096..2 * 4096].copy_from_slice(&rest);
        }),
    ];
    each(&two, &CASES);
    let mut missing = two;
    *missing.id_index() = index(&[4, 4]);
    let fixture = fixture(&missing.bytes(), MODES[1]);
    let view = inspect::open(segment(), &fixture.options).unwrap().remove(0);
    assert_eq!(view.get(3u64 << 40).unwrap_err().message(), "a fingerprint has no ids");
}

/// Eight fingerprints without ids and these pages of counts.
fn with_counts(pages: &[&[(u16, bool)]]) -> Parts {
    let records: Vec<Record> = (0..8).map(|i| Record::new(i << 40, 0)).collect();
    let mut parts = Parts::of(&Parameters::new(3).with_ids(IdKind::None), &records);
    assert_eq!(parts.records, 8);
    let ids = with_pages(pages);
    for section in [6, 7] {
        parts.sections[section].clone_from(&ids.sections[section]);
    }
    parts.records = pages.concat().iter().map(|&(count, _)| u64::from(count)).sum();
    parts
}

#[test]
fn counts_of_fingerprints_without_ids() {
    const COUNT: &str = "a fingerprint has not one count, of one or more";
    const COUNTS: [(u16, bool); 8] =
        [(5, true), (1, true), (1000, true), (1, true), (1, true), (900, true), (3, true), (1, true)];
    let counted: Vec<Record> =
        (0..).zip(COUNTS).map(|(i, (count, _))| Record { fingerprint: i << 40, id: Id::Count(count.into()) }).collect();
    for pages in [&[&COUNTS[..]][..], &[&COUNTS[..3], &COUNTS[3..]]] {
        accepted(&format!("{} pages", pages.len()), &with_counts(pages).bytes(), &counted);
    }
    for at in [0, 3, 7] {
        let mut counts = COUNTS;
        counts[at].0 = 0;
        refused(&format!("count {at} is 0"), &with_counts(&[&counts]).bytes(), Verify, COUNT);
        let pages = [&counts[..4], &counts[4..]];
        refused(&format!("count {at} is 0 of two pages"), &with_counts(&pages).bytes(), Verify, COUNT);
        let mut more = COUNTS.to_vec();
        more.insert(at + 1, (999 - 100 * at as u16, false));
        refused(&format!("two counts of {at}"), &with_counts(&[&more]).bytes(), Verify, COUNT);
        let pages = [&more[..=at], &more[at + 1..]];
        refused(&format!("a further count of {at} in the next page"), &with_counts(&pages).bytes(), Verify, COUNT);
    }
    const FIT: &str = "the footer's counts do not fit its sections";
    const CASES: [Case; 4] = [
        ("fewer records", Verify, "1912 ids for 1911 records", |p| p.records -= 1),
        ("more records", Verify, "1912 ids for 18446744073709551615 records", |p| p.records = u64::MAX),
        ("fewer records than fingerprints", Open, "the footer's counts contradict each other", |p| p.records = 7),
        ("more fingerprints than pages hold", Open, FIT, |p| (p.records, p.fingerprints) = (65_536, 65_536)),
    ];
    each(&with_counts(&[&COUNTS]), &CASES);
}
