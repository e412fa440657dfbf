//! Key indexes of synthetic records: bytes beside the information bound, seconds of loads and merges, microseconds of
//! queries, one by one and as a batch.
//!
//! `cargo bench --bench keys -- RECORDS KEYS [NEAR [STORE]]` makes RECORDS records of KEYS random keys of 48 bits. Of
//! every hundred records, NEAR (0) repeat two thirds of the keys of the one before. STORE keeps the index; if it is
//! there already, it is only asked.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    missing_docs
)]

mod common;

use fpstore::keys::{KeyQuery, KeySorter, QueryKeys};
use fpstore::{BatchStrategy, IdRef, KeyFormat, KeyIndex, Maintenance, Options, Parameters};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Loads, so that a merge has something to do.
const LOADS: u64 = 2;
const QUERIES: u64 = 100_000;
const ROUNDS: usize = 3;
/// Of which the median counts.
const RUNS: usize = 5;

fn main() {
    let arguments = common::arguments();
    let number = |at: usize| arguments.get(at).map(|number| number.parse::<u64>().unwrap());
    let (records, keys, near) = (
        number(0).unwrap_or(2000),
        number(1).unwrap_or(14),
        number(2).unwrap_or(if arguments.is_empty() { 5 } else { 0 }),
    );
    let directory = tempfile::tempdir().unwrap();
    let path = arguments.get(3).map_or_else(|| directory.path().join("store"), PathBuf::from);
    let options = Options::new().with_maintenance(Maintenance::Manual);
    if !path.exists() {
        make(&path, &options, records, keys, near);
    }
    let index = KeyIndex::open_read_only(&path, &options).unwrap();
    let mut asked = Vec::new();
    each_record(0..records, keys, near, &mut Vec::new(), |number, own| {
        if number % (records / QUERIES).max(1) == 0 {
            asked.push(own.to_vec());
        }
    });
    asked.truncate(QUERIES as usize);
    ask(&index, &asked);
}

/// Calls `visit` with the keys of consecutive records; `own` has those of the record before.
fn each_record(
    numbers: std::ops::Range<u64>,
    keys: u64,
    near: u64,
    own: &mut Vec<u64>,
    mut visit: impl FnMut(u64, &[u64]),
) {
    for number in numbers {
        let stays = if number % 100 < near { own.len() * 2 / 3 } else { 0 };
        own.truncate(stays);
        own.extend((stays as u64..keys).map(|key| common::even(number * keys + key + 1)));
        visit(number, own);
    }
}

fn make(path: &Path, options: &Options, records: u64, keys: u64, near: u64) {
    let format = KeyFormat::default();
    let index = KeyIndex::create(path, &Parameters::of_keys(format), options).unwrap();
    let mut own = Vec::new();
    let (mut sorting, mut loading, mut given) = (0.0, 0.0, 0);
    for load in 0..LOADS {
        let started = Instant::now();
        let mut sorter = KeySorter::new(path, options, format);
        let numbers = load * records / LOADS..(load + 1) * records / LOADS;
        each_record(numbers, keys, near, &mut own, |number, own| {
            sorter.push(IdRef::Number(number), own, &[]).unwrap();
        });
        let sorted = sorter.finish().unwrap();
        given += sorted.keys();
        sorting += started.elapsed().as_secs_f64();
        let started = Instant::now();
        index.load(sorted).unwrap();
        loading += started.elapsed().as_secs_f64();
    }
    let millions = given as f64 / 1e6;
    println!("{records} records, {given} keys: sorted in {sorting:.1} s, loaded in {loading:.1} s");
    println!("  {:.2} million keys/s", millions / (sorting + loading));
    let started = Instant::now();
    assert!(index.compact().unwrap());
    println!(
        "merged in {:.1} s, {:.2} million keys/s",
        started.elapsed().as_secs_f64(),
        millions / started.elapsed().as_secs_f64()
    );
    for run in fpstore::inspect::manifest(path, options).unwrap().runs {
        for (role, segment) in run.segments {
            let bytes = segment.file_length;
            println!(
                "  {}: {bytes} bytes, {:.2} a record, {:.2} bits a key",
                role.name(),
                bytes as f64 / records as f64,
                bytes as f64 * 8.0 / given as f64
            );
        }
    }
    let bound = 48.0 + std::f64::consts::LOG2_E - (keys as f64).log2();
    println!("  information bound of keys all different: {bound:.2} bits a key");
    index.close().unwrap();
}

/// Asks one by one on one thread, then on all threads, then as a batch.
fn ask(index: &KeyIndex, asked: &[Vec<u64>]) {
    let all = KeyQuery::new();
    for round in 0..ROUNDS {
        let mut searcher = index.searcher();
        let mut times: Vec<f64> = Vec::new();
        for keys in asked {
            let started = Instant::now();
            assert!(!searcher.query(keys, &[], &all).unwrap().is_empty());
            times.push(started.elapsed().as_secs_f64() * 1e6);
        }
        let sum = times.iter().sum::<f64>() / 1e6;
        times.sort_unstable_by(f64::total_cmp);
        println!(
            "{} queries, round {round}: median {:.1} us, 99 % {:.1} us; {sum:.3} s",
            times.len(),
            times[times.len() / 2],
            times[times.len() * 99 / 100]
        );
    }
    println!("on {} threads", std::thread::available_parallelism().map_or(1, usize::from));
    let queries: Vec<QueryKeys<'_>> = asked.iter().map(|keys| QueryKeys { keys, sketch: &[] }).collect();
    let mut searcher = index.searcher();
    for count in [100, 1000, 10_000, queries.len()] {
        let some = &queries[queries.len().saturating_sub(count)..];
        let mut time = |batch| {
            let mut times = [0.0; RUNS];
            for time in &mut times {
                let started = Instant::now();
                let answers = searcher.query_batch(some, &all, batch).unwrap();
                *time = started.elapsed().as_secs_f64() * 1e3;
                assert!(answers.iter().all(|answer| !answer.is_empty()));
            }
            times.sort_unstable_by(f64::total_cmp);
            times[RUNS / 2]
        };
        let (single, merged) = (time(BatchStrategy::Never), time(BatchStrategy::Always));
        println!(
            "  {} queries: one by one {single:.2} ms, merged {merged:.2} ms, {:.1} times as fast",
            some.len(),
            single / merged
        );
    }
}
