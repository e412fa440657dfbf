//! Key indexes of synthetic records: bytes beside the information bound, seconds of loads and merges, microseconds of
//! queries.
//!
//! `cargo bench --bench keys -- RECORDS KEYS [NEAR]` makes RECORDS records of KEYS random keys of 48 bits. Of every
//! hundred records, NEAR (0) repeat two thirds of the keys of the one before.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    missing_docs
)]

mod common;

use fpstore::keys::{KeyQuery, KeySorter};
use fpstore::{IdRef, KeyFormat, KeyIndex, Maintenance, Options, Parameters};
use std::time::Instant;

/// Loads, so that a merge has something to do.
const LOADS: u64 = 2;
const QUERIES: usize = 20_000;

fn main() {
    let numbers: Vec<u64> = common::arguments().iter().map(|number| number.parse().unwrap()).collect();
    let (records, keys, near) = match numbers[..] {
        [records, keys] => (records, keys, 0),
        [records, keys, near] => (records, keys, near),
        _ => (2000, 14, 5),
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let options = Options::new().with_maintenance(Maintenance::Manual);
    let format = KeyFormat::default();
    let index = KeyIndex::create(&path, &Parameters::of_keys(format), &options).unwrap();
    let (mut made, mut own, mut asked) = (0, Vec::new(), Vec::new());
    let (mut sorting, mut loading, mut given) = (0.0, 0.0, 0);
    for load in 0..LOADS {
        let started = Instant::now();
        let mut sorter = KeySorter::new(&path, &options, format);
        for number in load * records / LOADS..(load + 1) * records / LOADS {
            let stays = if number % 100 < near { own.len() * 2 / 3 } else { 0 };
            own.truncate(stays);
            own.resize_with(keys as usize, || {
                made += 1;
                common::even(made)
            });
            sorter.push(IdRef::Number(number), &own, &[]).unwrap();
            if number % (records / QUERIES as u64).max(1) == 0 {
                asked.push(own.clone());
            }
        }
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
    for run in fpstore::inspect::manifest(&path, &options).unwrap().runs {
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
    let mut searcher = index.searcher();
    for round in 0..2 {
        let mut times: Vec<f64> = Vec::new();
        for keys in &asked {
            let started = Instant::now();
            assert!(!searcher.query(keys, &[], &KeyQuery::new()).unwrap().is_empty());
            times.push(started.elapsed().as_secs_f64() * 1e6);
        }
        times.sort_unstable_by(f64::total_cmp);
        println!(
            "{} queries, round {round}: median {:.1} us, 99 % {:.1} us",
            times.len(),
            times[times.len() / 2],
            times[times.len() * 99 / 100]
        );
    }
}
