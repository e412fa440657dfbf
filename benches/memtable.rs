//! Queries of one thread over records in the memtable, and over the same records in a segment, with and without
//! filters.
//!
//! `cargo bench --bench memtable -- RECORDS [RUNS]`: uniform fingerprints, and 100,000 queries within distance 3, half
//! of them stored values with up to three bits flipped. The methods alternate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs
)]

mod common;

use fpstore::{Durability, Filters, Maintenance, Options, Parameters, Store};
use std::path::Path;
use std::time::{Duration, Instant};

const K: u32 = 3;
const QUERIES: usize = 100_000;
/// Records of a batch.
const BATCH: usize = 1000;

fn main() {
    let arguments = common::arguments();
    let number = |text: &str| text.parse().expect("a number");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [records] => measure(number(records), QUERIES, 5),
        [records, runs] => measure(number(records), QUERIES, number(runs)),
        // `cargo test --benches` passes no arguments: a small run checks that the program works.
        _ => measure(20_000, 2000, 1),
    }
}

/// A store with these fingerprints, all of them in its memtable.
fn store(path: &Path, fingerprints: &[u64]) -> Store {
    let options = Options::new()
        .with_maintenance(Maintenance::Manual)
        .with_memtable_memory(fingerprints.len() as u64 * 64)
        .with_filters(Filters::Off);
    let store = Store::<u64>::create(path, &Parameters::new(K), &options).unwrap();
    for (first, batch) in (0u64..).step_by(BATCH).zip(fingerprints.chunks(BATCH)) {
        store.insert_many(batch.iter().copied().zip(first..), Durability::Buffered).unwrap();
    }
    store
}

fn measure(records: usize, queries: usize, runs: usize) {
    let directory = tempfile::tempdir().unwrap();
    let fingerprints = common::uniform(records as u64);
    let queries = common::queries(&fingerprints, queries);
    let started = Instant::now();
    let memtable = store(&directory.path().join("memtable"), &fingerprints);
    let inserted = started.elapsed();
    let segment = store(&directory.path().join("segment"), &fingerprints);
    segment.flush().unwrap();
    let filtered = store(&directory.path().join("filtered"), &fingerprints);
    filtered.flush().unwrap();
    filtered.make_filters(Filters::AtOpen);
    filtered.wait_for_filters();
    assert_eq!((memtable.statistics().unflushed, segment.statistics().unflushed), (records as u64, 0));
    let ways = [("memtable", memtable), ("segment, without filters", segment), ("segment, through filters", filtered)];
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..runs {
        let found: Vec<usize> =
            ways.iter().zip(&mut times).map(|((_, store), times)| ask(store, &queries, times)).collect();
        assert!(found[0] > 0 && found.iter().all(|&count| count == found[0]), "{found:?}");
    }
    let rate = records as f64 / inserted.as_secs_f64();
    println!("{records} records, {} queries, {runs} runs; inserted {rate:.0} records/s", queries.len());
    for ((name, store), times) in ways.iter().zip(&mut times) {
        times.sort_unstable();
        let at = |part: usize| times[(times.len() * part / 1000).min(times.len() - 1)].as_secs_f64() * 1e6;
        let mean = times.iter().sum::<Duration>().as_secs_f64() * 1e6 / times.len() as f64;
        let bytes = store.statistics().memtable_bytes;
        println!("{name:26} mean {mean:7.2} us, p50 {:7.2}, p99 {:7.2}; memtable {bytes} bytes", at(500), at(990));
    }
}

/// Runs the queries one after another; returns the number of matches.
fn ask(store: &Store, queries: &[u64], times: &mut Vec<Duration>) -> usize {
    let mut searcher = store.searcher();
    let ask = |&query: &u64| {
        let started = Instant::now();
        let found = searcher.query(query, K).unwrap().len();
        times.push(started.elapsed());
        found
    };
    queries.iter().map(ask).sum()
}
