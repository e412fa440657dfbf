//! Growth of the cost of writes on the most skewed data: one fingerprint, one id, one prefix.
//!
//! `cargo bench --bench growth -- CASE SIZE...` runs one case (or `all`) at each size, each in a store of its own, and
//! prints seconds; the last column is the ratio to the time of the previous size. A linear cost doubles with its input.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs
)]

mod common;

use fpstore::{Durability, Maintenance, Options, Parameters, Store, U256, WriteBatch};
use std::path::Path;
use std::time::Instant;

const BUFFERED: Durability = Durability::Buffered;
/// The fingerprint of an empty page.
const EMPTY: u64 = 0x8000_0000_0000_0001;

/// Prepares a store, and returns the seconds that the measured part took.
type Case = fn(&Path, u64) -> f64;

const CASES: &[(&str, Case)] = &[
    ("insert-one-prefix", insert_one_prefix),
    ("reopen-one-prefix", reopen_one_prefix),
    ("insert-even", insert_even),
    ("remove-one-by-one", remove_one_by_one),
    ("remove-one-by-one-stored", remove_one_by_one_stored),
    ("batch-remove-id", batch_remove_id),
    ("batch-replace", batch_replace),
    ("batch-replace-one-id", batch_replace_one_id),
    ("replace-one-id", replace_one_id),
    ("replace-after-insert-and-remove", replace_beside_pairs),
    ("one-remove", one_remove),
    ("one-contains-near", one_contains_near),
    ("one-insert-if-new", one_insert_if_new),
    ("wide-get", wide_get),
    ("small-memtables", small_memtables),
];

fn main() {
    let arguments = common::arguments();
    let Some((wanted, sizes)) = arguments.split_first() else {
        // `cargo test --benches` passes no arguments: a small run checks that the program works.
        CASES.iter().for_each(|case| growth(*case, &[500, 1000]));
        return;
    };
    let sizes: Vec<u64> = sizes.iter().map(|size| size.parse().expect("a number")).collect();
    let found: Vec<_> = CASES.iter().filter(|(name, _)| wanted == "all" || wanted == name).collect();
    assert!(!found.is_empty(), "no case {wanted}");
    found.into_iter().for_each(|case| growth(*case, &sizes));
}

fn growth((name, case): (&str, Case), sizes: &[u64]) {
    let mut before = None;
    for &size in sizes {
        let directory = tempfile::tempdir().unwrap();
        let seconds = case(&directory.path().join("store"), size);
        let times = before.map_or(String::new(), |before: f64| format!("{:6.2}x", seconds / before));
        println!("{name:32} {size:>10} {seconds:>10.6} s {times}");
        before = Some(seconds);
    }
}

fn options() -> Options {
    Options::new().with_maintenance(Maintenance::Manual).with_memtable_memory(1 << 30)
}

fn create(path: &Path, id_index: bool) -> Store {
    Store::create(path, &Parameters::new(3).with_id_index(id_index), &options()).unwrap()
}

/// A store of `size` records that share a fingerprint.
fn of_one_fingerprint(path: &Path, size: u64, id_index: bool) -> Store {
    let store = create(path, id_index);
    for first in (0..size).step_by(10_000) {
        let ids = first..(first + 10_000).min(size);
        store.insert_many(ids.map(|id| (EMPTY, id)), BUFFERED).unwrap();
    }
    store
}

fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}

/// Fingerprints of 32 bits, in the lower half of 64.
fn insert_one_prefix(path: &Path, size: u64) -> f64 {
    let store = create(path, false);
    timed(|| (0..size).for_each(|n| store.insert(common::even(n) >> 32, n, BUFFERED).unwrap()))
}

fn reopen_one_prefix(path: &Path, size: u64) -> f64 {
    insert_one_prefix(path, size);
    timed(|| drop(Store::<u64>::open(path, &options()).unwrap()))
}

fn insert_even(path: &Path, size: u64) -> f64 {
    let store = create(path, false);
    timed(|| (0..size).for_each(|n| store.insert(common::even(n), n, BUFFERED).unwrap()))
}

fn remove_one_by_one(path: &Path, size: u64) -> f64 {
    let store = of_one_fingerprint(path, size, false);
    timed(|| (0..size).for_each(|id| assert!(store.remove(EMPTY, id, BUFFERED).unwrap())))
}

fn remove_one_by_one_stored(path: &Path, size: u64) -> f64 {
    let store = of_one_fingerprint(path, size, false);
    store.flush().unwrap();
    timed(|| (0..size).for_each(|id| assert!(store.remove(EMPTY, id, BUFFERED).unwrap())))
}

fn batch_remove_id(path: &Path, size: u64) -> f64 {
    let store = of_one_fingerprint(path, size, true);
    let mut batch = WriteBatch::new();
    (0..size).for_each(|id| batch.remove_id(id));
    timed(|| assert_eq!(store.write(&batch, BUFFERED).unwrap().removed, size))
}

fn batch_replace(path: &Path, size: u64) -> f64 {
    let store = of_one_fingerprint(path, size, true);
    let mut batch = WriteBatch::new();
    (0..size).for_each(|id| batch.replace(EMPTY ^ 2, id));
    timed(|| assert_eq!(store.write(&batch, BUFFERED).unwrap().removed, size))
}

fn batch_replace_one_id(path: &Path, size: u64) -> f64 {
    let store = create(path, true);
    let mut batch = WriteBatch::new();
    (0..size).for_each(|n| batch.replace(common::even(n), 7));
    timed(|| _ = store.write(&batch, BUFFERED).unwrap())
}

fn replace_one_id(path: &Path, size: u64) -> f64 {
    let store = create(path, true);
    timed(|| (0..size).for_each(|n| _ = store.replace(common::even(n), 7, BUFFERED).unwrap()))
}

/// An id with one record that stays, and others that are inserted and removed.
fn replace_beside_pairs(path: &Path, size: u64) -> f64 {
    let store = create(path, true);
    store.insert(EMPTY, 7, BUFFERED).unwrap();
    for n in 0..size {
        store.insert(common::even(n), 7, BUFFERED).unwrap();
        store.remove(common::even(n), 7, BUFFERED).unwrap();
    }
    timed(|| (0..size).for_each(|_| assert_eq!(store.get_id(7).unwrap().len(), 1)))
}

fn one_remove(path: &Path, size: u64) -> f64 {
    let store = of_one_fingerprint(path, size, false);
    store.flush().unwrap();
    store.remove(EMPTY, size / 2, BUFFERED).unwrap();
    timed(|| (0..10).for_each(|id| assert!(store.remove(EMPTY, id, BUFFERED).unwrap())))
}

fn one_contains_near(path: &Path, size: u64) -> f64 {
    let store = of_one_fingerprint(path, size, false);
    store.flush().unwrap();
    store.remove(EMPTY, size / 2, BUFFERED).unwrap();
    timed(|| (0..10).for_each(|_| assert!(store.contains_near(EMPTY ^ 1, 3).unwrap().is_some())))
}

fn one_insert_if_new(path: &Path, size: u64) -> f64 {
    let store = of_one_fingerprint(path, size, false);
    store.flush().unwrap();
    store.remove(EMPTY, size / 2, BUFFERED).unwrap();
    timed(|| {
        (0..10).for_each(|n| assert!(!store.insert_if_new(EMPTY ^ 1, size + n, 3, BUFFERED).unwrap().inserted));
    })
}

/// Fingerprints of 256 bits that begin with the same 64.
fn wide_get(path: &Path, size: u64) -> f64 {
    let store = Store::<U256>::create(path, &Parameters::new(3).with_width(256), &options()).unwrap();
    let fingerprint = |n: u64| U256([7, common::even(n), n, common::even(n + 1)]);
    store.insert_many((0..size).map(|n| (fingerprint(n), n)), BUFFERED).unwrap();
    store.flush().unwrap();
    timed(|| (0..100_000).for_each(|n| assert_eq!(store.get(fingerprint(n * 7919 % size)).unwrap().len(), 1)))
}

/// More data than the background threads can merge without delaying writers.
fn small_memtables(path: &Path, size: u64) -> f64 {
    let options = Options::new().with_memtable_memory(1 << 20);
    let store = Store::<u64>::create(path, &Parameters::new(3), &options).unwrap();
    let (mut most, mut seconds) = (0, 0.0);
    for first in (0..size).step_by(1000) {
        let records: Vec<_> = (first..(first + 1000).min(size)).map(|n| (common::even(n), n)).collect();
        seconds += timed(|| store.insert_many(records, BUFFERED).unwrap());
        if first % 100_000 == 0 {
            most = most.max(store.snapshot().statistics().runs);
        }
    }
    println!("{:32} {size:>10} records, {most} runs at most", "");
    seconds
}
