//! The same records in two segments, which is legal: every answer has them once.

use crate::points::every;
use crate::strict::{Manifest, Parts, store};
use crate::support::*;
use fpstore::{Id, IdKind, Match, Parameters, Record, Store};

fn open(segments: &[&[u8]], mode: fpstore::ReadMode) -> Store {
    let fixture = store(Manifest::naming(segments).bytes(), segments, mode);
    <Store>::open_read_only(&fixture.path, &fixture.options).unwrap()
}

/// Every kind of query returns each of the sorted `records` once.
fn check(store: &Store, records: &[Record]) {
    assert!(store.verify().unwrap().damages.is_empty());
    assert!(store.records().map(Result::unwrap).eq(records.iter().cloned()));
    let queries: Vec<u64> = records.iter().step_by(41).map(|record| record.fingerprint ^ 0x11).collect();
    compare(store, records, &queries, 0..=4, "overlap");
    for query in queries {
        let all = expected(records, query, 64);
        assert_eq!(store.searcher().scan(query, 3).unwrap(), expected(records, query, 3));
        assert_eq!(store.searcher().scan(query, 64).unwrap(), all);
    }
}

/// The nearest ones are as many as requested, each once.
fn check_nearest(store: &Store, records: &[Record], most: usize) {
    for record in records.iter().step_by(41) {
        let query = record.fingerprint ^ 0x11;
        let all = expected(records, query, 64);
        for count in [1, 2, 3, 10, records.len() / 2, most] {
            let nearest: Vec<Match> = all.iter().take(count).cloned().collect();
            assert_eq!(store.nearest(query, count).unwrap(), nearest, "{count} nearest");
            assert_eq!(store.searcher().scan_nearest(query, count, 64).unwrap(), nearest, "{count} nearest");
        }
    }
}

#[test]
fn nearest_within_the_distance_that_the_index_is_for() {
    let records = sample();
    let bytes = Parts::of(&Parameters::new(64), &records).bytes();
    check_nearest(&open(&[&bytes, &bytes], MODES[0]), &records, records.len());
}

#[test]
fn nearest_beyond_it() {
    let records = sample();
    let bytes = Parts::of(&Parameters::new(3), &records).bytes();
    check_nearest(&open(&[&bytes, &bytes], MODES[0]), &records, records.len() + 1);
}

/// Sorted records of 2,000 fingerprints, some of them near, some with several ids.
fn sample() -> Vec<Record> {
    let mut random = Random(51);
    let mut records = numbered(&uniform(1500, 52));
    records.extend(numbered(&real()[..500]));
    let more: Vec<Record> =
        records.iter().step_by(3).map(|record| Record::new(record.fingerprint, random.below(5000))).collect();
    records.extend(more);
    records.sort_unstable();
    records.dedup();
    records
}

#[test]
fn equal_segments() {
    let records = sample();
    let bytes = Parts::of(&Parameters::new(3), &records).bytes();
    let ways = [2, 3].into_iter().flat_map(|copies| MODES.map(|mode| (copies, mode)));
    // A short run takes one of the four ways.
    for (copies, mode) in every(4, ways) {
        check(&open(&vec![&*bytes; copies], mode), &records);
    }
}

#[test]
fn segments_that_share_some_records() {
    let records = sample();
    let parts = [&records[..1200], &records[700..], &records[300..900]];
    let segments = parts.map(|part| Parts::of(&Parameters::new(3), part).bytes());
    let segments: Vec<&[u8]> = segments.iter().map(Vec::as_slice).collect();
    check(&open(&segments, MODES[0]), &records);
}

#[test]
fn what_is_there_twice_is_not_loaded_a_third_time() {
    let records = sample();
    let bytes = Parts::of(&Parameters::new(3), &records).bytes();
    let fixture = store(Manifest::naming(&[&bytes, &bytes]).bytes(), &[&bytes, &bytes], MODES[0]);
    let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
    let report = store.bulk_load(fpstore::Records::WithIds(records[..50].to_vec())).unwrap();
    assert_eq!((report.added(), report.already_present), (0, 50));
    check(&store, &records);
}

#[test]
fn counts_of_segments_add_up() {
    let distinct = uniform(600, 53);
    // Each once or more in every segment, often with the same count as in the one before.
    let loads = [1, 2, 2].map(|most| {
        let times = |(fingerprint, i): (&u64, usize)| std::iter::repeat_n(*fingerprint, 1 + i % most);
        distinct.iter().zip(0..).flat_map(times).collect::<Vec<u64>>()
    });
    let count = |i: usize| [1, 2, 2].iter().map(|most| 1 + i as u64 % most).sum::<u64>();
    let mut records: Vec<Record> =
        (0..600).map(|i| Record { fingerprint: distinct[i], id: Id::Count(count(i)) }).collect();
    records.sort_unstable();
    for mode in MODES {
        let fixture = Fixture::new(mode);
        let store =
            <Store>::create(&fixture.path, &Parameters::new(3).with_ids(IdKind::None), &fixture.options).unwrap();
        for load in &loads {
            assert_eq!(store.bulk_load(fpstore::Records::Numbered(load.clone())).unwrap().added(), load.len() as u64);
        }
        for record in records.iter().step_by(41) {
            let query = record.fingerprint ^ 0x11;
            assert_eq!(store.query(query, 3).unwrap(), expected(&records, query, 3));
            assert_eq!(store.searcher().scan(query, 64).unwrap(), expected(&records, query, 64));
            assert_eq!(store.contains_near(query, 3).unwrap(), expected(&records, query, 3).pop());
        }
        check_listing(&store, &records);
        assert!(store.compact().unwrap());
        check_listing(&store, &records);
    }
}

/// The store is sound and lists these records.
fn check_listing(store: &Store, records: &[Record]) {
    let damages = store.verify().unwrap().damages;
    assert!(damages.is_empty(), "{damages:?}");
    let listed: Vec<Record> = store.records().map(Result::unwrap).collect();
    assert!(listed == records, "{} are listed of {}, the first is {:?}", listed.len(), records.len(), listed[0]);
}
