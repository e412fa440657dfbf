//! Batches of queries: with every strategy, the answers are those of single queries.

use crate::points::every;
use crate::support::{DESIGNS, Fixture, MODES, Random, expected, families, numbered, real, store_of, uniform, wide};
use fpstore::{
    BatchStrategy, Design, ErrorKind, Fingerprint, Id, IdKind, Match, Parameters, ReadMode, Record, Store, U256,
};
use rayon::ThreadPoolBuilder;
use std::cell::LazyCell;

const WAYS: [BatchStrategy; 3] = [BatchStrategy::Auto, BatchStrategy::Always, BatchStrategy::Never];

/// Near and far queries, some of them repeated.
fn near<F: Fingerprint>(values: &[F], count: usize, most: u64, seed: u64) -> Vec<F> {
    let mut random = Random(seed);
    let mut queries: Vec<F> = Vec::new();
    while queries.len() < count {
        let stored = values.get(random.below(values.len().max(1) as u64) as usize).copied();
        let query = match (stored, random.below(4), queries.last()) {
            (_, 0, _) | (None, _, _) => F::from_words(|_| random.next()),
            (_, 1, Some(&last)) => last,
            (Some(stored), _, _) => {
                (0..random.below(most + 1)).fold(stored, |query, _| query.flipped(random.below(F::WIDTH.into()) as u32))
            }
        };
        queries.push(query);
    }
    queries
}

/// Compares all strategies with single queries, and those with brute force.
fn agree<F: Fingerprint>(store: &Store<F>, records: &[Record<F>], queries: &[F], k: u32, label: &str) {
    let one_by_one = one_by_one(store, queries, k);
    for way in WAYS {
        let answers = store.searcher().query_batch(queries, k, way).unwrap();
        assert!(answers == one_by_one, "{label}, within {k}, {way:?}");
    }
    for (query, answer) in queries.iter().zip(&one_by_one).step_by(queries.len() / 20 + 1) {
        assert_eq!(answer, &expected(records, *query, k), "{label}, within {k}");
    }
}

/// The answer to each query alone.
fn one_by_one<F: Fingerprint>(store: &Store<F>, queries: &[F], k: u32) -> Vec<Vec<Match<F>>> {
    let mut searcher = store.searcher();
    queries.iter().map(|&query| searcher.query(query, k).unwrap()).collect()
}

#[test]
fn every_design_and_distance() {
    for (name, values) in [("uniform", uniform(20_000, 1)), ("real", real()), ("families", families(300, 40, 2))] {
        let records = numbered(&values[..values.len().min(20_000)]);
        let of = |design| store_of(&Parameters::new(3).with_design(design), &records, 1, ReadMode::Mmap);
        for (number, design) in DESIGNS.into_iter().enumerate() {
            let store = LazyCell::new(|| of(design));
            // A short run takes one distance for each design.
            for k in every(7, (0..=6).cycle().skip(number).take(7)) {
                // Wide radii are slow, so they get fewer queries.
                let count = if k <= 3 { 400 } else { 40 };
                let queries = near(&values, count, u64::from(k) + 1, u64::from(k) + 7);
                agree(&store, &records, &queries, k, &format!("{name}, {design}"));
            }
        }
    }
}

#[test]
fn more_queries_than_records_and_many_ranges() {
    let values = uniform(150_000, 3);
    let records = numbered(&values);
    let store = store_of(&Parameters::new(3), &records, 1, ReadMode::Mmap);
    agree(&store, &records, &near(&values, 200_000, 4, 1), 3, "many");
    agree(&store, &records, &vec![values[7] ^ 1; 5000], 3, "the same");
    agree(&store, &records, &near(&values, 50, 4, 1), 3, "few");
    let few = store_of(&Parameters::new(3), &records[..5], 1, ReadMode::Mmap);
    agree(&few, &records[..5], &near(&values[..5], 20_000, 4, 1), 3, "few records");
}

#[test]
fn keys_that_share_all_leading_bits() {
    // Both halves vary in only a few bits: ranges of one prefix.
    let mut random = Random(5);
    let values: Vec<u64> = (0..60_000).map(|_| random.next() & 0x0000_07ff_0000_07ff).collect();
    let records = numbered(&values);
    let store = store_of(&Parameters::new(3), &records, 1, ReadMode::Mmap);
    agree(&store, &records, &near(&values, 300, 2, 1), 1, "dense");
    let one: Vec<u64> = (0..30_000).map(|low| 0x1234_5678_0000_0000 | low).collect();
    let store =
        store_of(&Parameters::new(3).with_design(Design::Tables { parts: 4 }), &numbered(&one), 1, ReadMode::Mmap);
    agree(&store, &numbered(&one), &near(&one, 100, 2, 1), 2, "one prefix");
}

fn wide_ones<F: Fingerprint>() {
    let mut values = wide::<F>(3000, 1);
    values.extend(near(&values, 3000, 9, 2));
    values.sort_unstable();
    values.dedup();
    let records = numbered(&values);
    let designs = [(1, 3), (4, 8), (16, 31)];
    let ways = designs.into_iter().flat_map(|design| MODES.map(|mode| (design, mode)));
    // A short run takes three of the designs and modes, and a part of the distances of each.
    for ((parts, most), mode) in every(2, ways) {
        let parameters = Parameters::new(most).with_width(F::WIDTH).with_design(Design::Tables { parts });
        let store = Fixture::new(mode).load_wide(&parameters, &records, 1);
        for k in every(3, [0, 1, 2, 3, 4, 5, 6, most].into_iter().filter(|&k| k <= most + 1)) {
            let queries = near(&values, 200, u64::from(k) + 1, k.into());
            agree(&store, &records, &queries, k, &format!("{} bits, {parts} parts", F::WIDTH));
        }
    }
}

#[test]
fn wide_fingerprints() {
    wide_ones::<u128>();
    wide_ones::<U256>();
}

#[test]
fn nothing_asked_and_nothing_there() {
    let empty = store_of(&Parameters::new(3), &[], 1, ReadMode::Mmap);
    let store = store_of(&Parameters::new(3), &numbered(&[1, 2]), 1, ReadMode::Mmap);
    for way in WAYS {
        assert!(store.searcher().query_batch(&[], 3, way).unwrap().is_empty());
        assert_eq!(empty.searcher().query_batch(&[1, 2], 3, way).unwrap(), [vec![], vec![]]);
        let error = store.searcher().query_batch(&[1], 65, way).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn several_segments_and_ids_of_every_kind() {
    let values = families(200, 20, 4);
    let queries = near(&values, 2000, 4, 3);
    let cases = MODES.into_iter().flat_map(|mode| IdKind::ALL.map(|kind| (mode, kind)));
    // A short run takes one kind of ids.
    for (mode, kind) in every(6, cases) {
        let mut records = numbered(&values);
        if kind == IdKind::Text {
            records.iter_mut().for_each(|record| record.id = Id::from(format!("page/{:?}", record.id).as_str()));
        }
        let repeated: Vec<Record> = records.iter().chain(&records[..500]).cloned().collect();
        let store = Fixture::new(mode).load(&Parameters::new(3).with_ids(kind), &repeated, 4);
        let one_by_one = one_by_one(&store, &queries, 3);
        assert!(one_by_one.iter().any(|answer| answer.len() > 5));
        for way in WAYS {
            assert!(store.searcher().query_batch(&queries, 3, way).unwrap() == one_by_one, "{kind:?} {way:?}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let values = families(2000, 20, 4);
    let store = store_of(&Parameters::new(3), &numbered(&values), 2, ReadMode::Mmap);
    let queries = near(&values, 10_000, 4, 3);
    let one_by_one = one_by_one(&store, &queries, 3);
    for threads in [1, 2, 8] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // A short run takes some of the ways for each number of threads.
        for way in every(2, WAYS.into_iter().cycle().skip(threads).take(3)) {
            assert!(
                pool.install(|| store.searcher().query_batch(&queries, 3, way)).unwrap() == one_by_one,
                "{threads} {way:?}"
            );
        }
    }
}

#[test]
fn a_large_batch_is_merged_and_a_small_one_is_not() {
    let values = uniform(200_000, 6);
    let store = store_of(&Parameters::new(3), &numbered(&values), 1, ReadMode::Mmap);
    let merged = |queries: &[u64], way| {
        let mut searcher = store.searcher();
        drop(searcher.query_batch(queries, 3, way).unwrap());
        let work = searcher.stats();
        assert!(work.probes > 0 && work.blocks > 0);
        work.merge_joins
    };
    assert_eq!([&values[..], &values[..3]].map(|queries| merged(queries, BatchStrategy::Auto)), [1, 0]);
    assert_eq!([BatchStrategy::Always, BatchStrategy::Never].map(|way| merged(&values[..3], way)), [1, 0]);
    let strategy = |queries| store.searcher().batch_strategy(queries, 3);
    assert_eq!((strategy(values.len()), strategy(3)), (BatchStrategy::Always, BatchStrategy::Never));
}

#[test]
fn damage_is_an_error() {
    let values = uniform(20_000, 8);
    let fixture = Fixture::new(ReadMode::Mmap);
    drop(fixture.load(&Parameters::new(3), &numbered(&values), 1));
    let (path, bytes) = fixture.files().into_iter().find(|(path, _)| path.extension().is_some()).unwrap();
    let mut wrong = 0;
    for at in (4096..bytes.len()).step_by(bytes.len() / 23) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        fixture.env.set_bytes(&path, damaged);
        let Ok(store) = Store::<u64>::open_read_only(&fixture.path, &fixture.options) else { continue };
        match store.searcher().query_batch(&values, 3, BatchStrategy::Always) {
            Ok(answers) => assert!(answers.iter().all(|answer| !answer.is_empty()), "at {at}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
                wrong += 1;
            }
        }
    }
    assert!(wrong > 5, "{wrong}");
}
