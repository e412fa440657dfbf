//! Sets that no sample of documents has, but that must work.

use crate::points::{every, is_long};
use crate::support::*;
use fpstore::{Parameters, ReadMode, Record, Records, Store};

fn check(values: &[u64]) {
    let records = numbered(values);
    let mut queries: Vec<u64> = values.iter().step_by((values.len() / 20).max(1)).copied().collect();
    queries.extend([0, 1, u64::MAX, u64::MAX - 1, 1 << 63, 0x5555_5555_5555_5555]);
    let blocks = |parameters: Parameters| [128, 512, 65536].map(|size| parameters.clone().with_block_size(size));
    // A short run takes a fifth of the designs, codecs and sizes of blocks.
    for parameters in every(5, combinations().flat_map(blocks)) {
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
    // In a short run one million times. The bits of an id among as many:
    let (count, bits) = if is_long() { (10_000_000, 24) } else { (1_000_000, 20) };
    let parameters = Parameters::new(3);
    let fixture = Fixture::new(ReadMode::Mmap);
    let (store, report) = <Store>::create_loaded(
        &fixture.path,
        &parameters,
        &fixture.options,
        Records::Numbered(vec![42; count as usize]),
    )
    .unwrap();
    assert_eq!((report.records, report.fingerprints, report.already_present), (count, 1, 0));
    let matches = store.query(43, 1).unwrap();
    assert!(matches.iter().map(|found| found.id.number().unwrap()).eq(0..count));
    assert!(store.verify().unwrap().damages.is_empty());
    // One more bit marks that no new fingerprint begins.
    assert!(store.statistics().id_bytes < count * (bits + 2) / 8);
}

#[test]
fn any_ids() {
    let ids = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63];
    let records: Vec<Record> = (0..2000u64)
        .flat_map(|i| ids.into_iter().take(i as usize % 6).map(move |id| Record::new(i * i, id ^ (i << 30))))
        .collect();
    let store = store_of(&Parameters::new(3), &records, 2, ReadMode::Pread);
    compare(&store, &records, &[0, 1, 4, 9, 16, 3_996_001], 0..=6, "ids");
}

#[test]
fn more_fingerprints_of_one_id_than_a_page_can_count() {
    let mut random = Random(71);
    let records: Vec<Record> = (0..140_000).map(|_| Record::new(random.next(), 9)).collect();
    let store = store_of(&Parameters::new(3), &records, 1, ReadMode::Mmap);
    assert!(store.verify().unwrap().damages.is_empty());
    // They take no space except a header: 65,535, 65,535, and the rest.
    let pages = store.statistics().id_bytes;
    assert!((2 * 4096..3 * 4096).contains(&pages), "{pages} bytes of ids");
    every_record_is_found(&store, &records);
}

/// Records of distinct fingerprints are found one by one and listed.
fn every_record_is_found(store: &Store, records: &[Record]) {
    let mut searcher = store.searcher();
    for record in records {
        let matches = searcher.query(record.fingerprint, 0).unwrap();
        assert_eq!(matches.len(), 1, "{record:?}");
        assert_eq!((matches[0].fingerprint, &matches[0].id), (record.fingerprint, &record.id));
    }
    let mut sorted = records.to_vec();
    sorted.sort_unstable();
    assert!(store.records().map(Result::unwrap).eq(sorted));
}

#[test]
fn more_pages_of_ids_and_blocks_than_a_chunk_of_their_indexes_describes() {
    let mut random = Random(72);
    // Ids of 64 bits: 508 in a page.
    let records: Vec<Record> = (0..540_000).map(|_| Record::new(random.next(), random.next())).collect();
    let fixture = Fixture::new(ReadMode::Mmap);
    let store = fixture.load(&Parameters::new(3), &records, 1);
    assert!(store.verify().unwrap().damages.is_empty());
    let view = fpstore::inspect::open(&fixture.path, &fixture.options).unwrap().remove(0);
    let ids = view.sections().into_iter().find(|section| section.name == "ids").unwrap();
    assert!(ids.length.div_ceil(4096) > 1024 + 20);
    assert!(view.tables().iter().all(|(_, blocks)| *blocks > 3 * 256));
    every_record_is_found(&store, &records);
    let near: Vec<u64> = records.iter().step_by(50_000).map(|record| random.flip(record.fingerprint, 3)).collect();
    compare(&store, &records, &near, 3..=3, "many pages");
}

#[test]
fn as_many_blocks_as_a_chunk_of_the_index_describes_and_some_more() {
    let all = uniform(5400, 73);
    let mut seen = [false; 3];
    // About 19 fingerprints per block; the number of blocks grows slowly with that of fingerprints.
    for count in (4300..5400).step_by(5) {
        let records = numbered(&all[..count]);
        let fixture = Fixture::new(ReadMode::Mmap);
        let store = fixture.load(&Parameters::new(3).with_block_size(128), &records, 1);
        let view = fpstore::inspect::open(&fixture.path, &fixture.options).unwrap().remove(0);
        let blocks = view.tables()[0].1;
        let Some(seen) = blocks.checked_sub(255).and_then(|more| seen.get_mut(more)) else { continue };
        if !std::mem::replace(seen, true) {
            assert!(store.verify().unwrap().damages.is_empty(), "{blocks} blocks");
            every_record_is_found(&store, &records);
        }
    }
    assert_eq!(seen, [true; 3], "255, 256 and 257 blocks");
}
