//! Latency of single inserts during compactions and bulk loads.
//!
//! `cargo bench --bench latency -- RECORDS [buffered|sync]`: half of the records are in the store from the start;
//! several bulk loads add a quarter while eight threads insert the rest one by one. Prints percentiles of the inserts,
//! and the delays of writers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs
)]

mod common;

use fpstore::{Durability, Options, Parameters, Record, Records, Store};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const THREADS: u64 = 8;
/// Loads during the inserts.
const LOADS: u64 = 4;

fn main() {
    let arguments = common::arguments();
    let number = |text: &str| text.parse().expect("a number");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [records] | [records, "buffered"] => measure(number(records), Durability::Buffered),
        [records, "sync"] => measure(number(records), Durability::SyncData),
        // `cargo test --benches` passes no arguments: a small run checks that the program works.
        _ => measure(40_000, Durability::Buffered),
    }
}

fn records(numbers: std::ops::Range<u64>) -> Records<u64> {
    Records::WithIds(numbers.map(|n| Record::new(common::even(n), n)).collect())
}

fn measure(all: u64, durability: Durability) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let loaded = records(0..all / 2);
    let (store, _) = Store::<u64>::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded).unwrap();
    // The first write after opening allocates a memtable, which may take as long as the system needs to find memory.
    store.insert(common::even(all / 2), all / 2, durability).unwrap();
    let next = AtomicU64::new(all / 2 + 1);
    let end = all * 3 / 4;
    let started = Instant::now();
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let insert = || {
            let mut times = Vec::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= end {
                    return times;
                }
                let started = Instant::now();
                store.insert(common::even(n), n, durability).unwrap();
                times.push(started.elapsed());
            }
        };
        let writers: Vec<_> = (0..THREADS).map(|_| scope.spawn(insert)).collect();
        let each = (all - end) / LOADS;
        for load in 0..LOADS {
            store.bulk_load(records(end + load * each..end + (load + 1) * each)).unwrap();
        }
        println!("{LOADS} loads of {each} records: {:.1} s", started.elapsed().as_secs_f64());
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let seconds = started.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    println!(
        "{} inserts, {durability:?}, {THREADS} threads, {:.0} inserts/s; ms: p50 {:.4}, p99 {:.4}, p99.9 {:.4}, longest {:.2}",
        times.len(),
        times.len() as f64 / seconds,
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
    let statistics = store.statistics();
    println!("{:?}; {} runs, {} records", statistics.pressure, statistics.runs, statistics.records);
    store.wait_for_maintenance().unwrap();
    assert_eq!(store.statistics().records, end + (all - end) / LOADS * LOADS);
}
