//! Sets that no sample of documents has, and that have to work all the same.

use crate::support::*;
use fpstore::{Parameters, ReadMode, Record, Records, Store};

fn check(values: &[u64]) {
    let records = numbered(values);
    let mut queries: Vec<u64> = values.iter().step_by((values.len() / 20).max(1)).copied().collect();
    queries.extend([0, 1, u64::MAX, u64::MAX - 1, 1 << 63, 0x5555_5555_5555_5555]);
    for parameters in combinations() {
        for block_size in [128, 512, 65536] {
            let parameters = parameters.with_block_size(block_size);
            let fixture = Fixture::new(ReadMode::Mmap);
            let store = fixture.load(&parameters, &records, 1);
            assert!(store.verify().unwrap().damages.is_empty());
            let label = format!("{} values, {} {}", values.len(), parameters.design(), parameters.codec());
            compare(&store, &records, &queries, 0..=4, &label);
            let mut sorted = records.clone();
            sorted.sort_unstable();
            assert!(store.records().map(Result::unwrap).eq(sorted));
        }
    }
}

#[test]
fn none_one_and_two() {
    check(&[]);
    check(&[0]);
    check(&[u64::MAX]);
    check(&[0, u64::MAX]);
    check(&[7, 7]);
}

#[test]
fn all_ones_single_bits_and_runs_of_ones() {
    check(&(0..64).map(|bit| u64::MAX << bit).collect::<Vec<_>>());
    check(&(0..64).map(|bit| 1 << bit).collect::<Vec<_>>());
}

#[test]
fn consecutive_values_and_giant_gaps() {
    check(&(0..3000).chain((0..3000).map(|i| u64::MAX - i)).chain((1..60).map(|i| i << 58)).collect::<Vec<_>>());
}

#[test]
fn one_value_ten_million_times() {
    let parameters = Parameters::new(3);
    let fixture = Fixture::new(ReadMode::Mmap);
    let (store, report) =
        Store::create_loaded(&fixture.path, &parameters, &fixture.options, Records::Numbered(vec![42; 10_000_000]))
            .unwrap();
    assert_eq!((report.records, report.fingerprints, report.already_present), (10_000_000, 1, 0));
    let matches = store.query(43, 1).unwrap();
    assert!(matches.iter().map(|found| found.id).eq(0..10_000_000));
    assert!(store.verify().unwrap().damages.is_empty());
    // An id among ten million needs 24 bits; a bit more says that no new fingerprint begins.
    assert!(store.statistics().id_bytes < 10_000_000 * 26 / 8);
}

#[test]
fn any_ids() {
    let ids = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63];
    let records: Vec<Record> = (0..2000u64)
        .flat_map(|i| {
            ids.into_iter().take(i as usize % 6).map(move |id| Record { fingerprint: i * i, id: id ^ (i << 30) })
        })
        .collect();
    let store = store_of(&Parameters::new(3), &records, 2, ReadMode::Pread);
    compare(&store, &records, &[0, 1, 4, 9, 16, 3_996_001], 0..=6, "ids");
}
