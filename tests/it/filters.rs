//! Prefix filters change what a query costs, never what it answers; they are made when and where they are wanted.

use crate::support::*;
use fpstore::{Filters, Options, Parameters, ReadMode, Record, Records, Store, Work};

/// Uniform values, and families of values that differ in few bits: enough that every segment gets filters.
fn values() -> Vec<u64> {
    let mut random = Random(31);
    let mut values = uniform(80_000, 30);
    for family in 0..400 {
        values.extend((0..150).map(|member| random.flip(values[family], member % 6)).collect::<Vec<_>>());
    }
    values
}

fn queries(values: &[u64]) -> Vec<u64> {
    let mut random = Random(32);
    let mut near: Vec<u64> = values.iter().step_by(3001).map(|&value| value ^ (1 << random.below(64))).collect();
    near.extend(uniform(20, 33));
    near
}

/// What asking every query costs.
fn work(store: &Store, queries: &[u64]) -> Work {
    let mut searcher = store.searcher();
    queries.iter().for_each(|&query| _ = searcher.query(query, 3).unwrap());
    searcher.work()
}

#[test]
fn the_same_answers_with_and_without_for_every_design_and_mode() {
    let values = values();
    let (records, queries) = (numbered(&values), queries(&values));
    for design in DESIGNS {
        for mode in MODES {
            let mut fixture = Fixture::new(mode);
            fixture.options = fixture.options.with_filters(Filters::AtOpen);
            let store = fixture.load(&Parameters::new(3).with_design(design), &records, 1);
            assert!(store.filter_bytes() > 0 && store.filter_bytes() == store.statistics().unwrap().filter_bytes);
            compare(&store, &records, &queries, 0..=5, &format!("{design} {mode:?}"));
        }
    }
}

#[test]
fn filters_save_nearly_all_blocks() {
    let values = uniform(300_000, 34);
    let records = numbered(&values);
    let mut fixture = Fixture::new(ReadMode::Mmap);
    drop(fixture.load(&Parameters::new(3), &records, 1));
    let queries = queries(&values);
    let mut open = |filters| {
        fixture.options = fixture.options.clone().with_filters(filters);
        work(&<Store>::open_read_only(&fixture.path, &fixture.options).unwrap(), &queries)
    };
    let (without, with) = (open(Filters::Off), open(Filters::AtOpen));
    assert_eq!(without.probes, without.places);
    assert!(with.places < with.probes / 8, "{with:?}");
    assert!(with.blocks < without.blocks / 6, "{with:?} {without:?}");
    assert_eq!(work_of_scan(&fixture, &queries).places, 0);
}

fn work_of_scan(fixture: &Fixture, queries: &[u64]) -> Work {
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
    let mut searcher = store.searcher();
    searcher.scan(queries[0], 3).unwrap();
    searcher.work()
}

#[test]
fn made_in_the_background_at_opening_or_never_and_within_their_memory() {
    let records = numbered(&uniform(200_000, 35));
    let (first, second) = records.split_at(100_000);
    let fixture = Fixture::new(ReadMode::Mmap);
    let open = |options: &Options| <Store>::open(&fixture.path, options).unwrap();
    let options = &fixture.options;
    drop(fixture.load(&Parameters::new(3), first, 1));
    let store = open(options);
    store.wait_for_filters();
    let one = store.filter_bytes();
    assert!(one > 0);
    // A segment that is loaded later gets one as well.
    store.bulk_load(Records::WithIds(second.to_vec())).unwrap();
    store.wait_for_filters();
    assert_eq!(store.filter_bytes(), 2 * one);
    let queries = queries(&uniform(200_000, 35));
    compare(&store, &records, &queries[..40], 0..=4, "two segments");
    drop(store);
    for (limit, expected) in [(0, 0), (one - 1, 0), (one, one), (2 * one, 2 * one)] {
        let store = open(&options.clone().with_filters(Filters::AtOpen).with_filter_memory(limit));
        assert_eq!(store.filter_bytes(), expected, "within {limit} bytes");
        assert_eq!(store.statistics().unwrap().filter_bytes, 2 * one, "what all of them would take");
    }
    let store = open(&options.clone().with_filters(Filters::Off));
    store.wait_for_filters();
    assert_eq!(store.filter_bytes(), 0);
}

#[test]
fn small_stores_have_none() {
    let store = store_of(&Parameters::new(3), &numbered(&uniform(5000, 36)), 1, ReadMode::Mmap);
    assert_eq!(store.statistics().unwrap().filter_bytes, 0);
}

#[test]
fn a_damaged_table_has_no_filter_and_says_so_when_asked() {
    let records: Vec<Record> = numbered(&uniform(100_000, 37));
    let mut fixture = Fixture::new(ReadMode::Pread);
    drop(fixture.load(&Parameters::new(3), &records, 1));
    let path = fixture.path.join("00000001.segment");
    let mut bytes = fixture.env.bytes(&path).unwrap();
    bytes[5000] ^= 1;
    fixture.env.set_bytes(&path, bytes);
    fixture.options = fixture.options.with_filters(Filters::AtOpen);
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.filter_bytes() * 2, store.statistics().unwrap().filter_bytes);
    let failed = records.iter().step_by(97).filter(|record| store.query(record.fingerprint, 3).is_err()).count();
    assert!(failed > 0);
    // One searcher for all: a query that fails leaves nothing to the next one.
    let mut searcher = store.searcher();
    let again = records.iter().step_by(97).filter(|record| searcher.query(record.fingerprint, 3).is_err()).count();
    assert_eq!(again, failed);
}
