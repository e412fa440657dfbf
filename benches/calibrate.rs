//! Measures the planner's time constants and prints them beside those in use.
//!
//! `cargo bench --bench calibrate`, or `-- 5000000` for another number of fingerprints. The program changes nothing: to
//! use other times, edit `fpstore::plan::Timings::IN_USE`.
//!
//! Every figure is the minimum of several rounds, to reduce the influence of other load. Scans with small and with
//! large blocks separate the time of a key from that of a next block. The remaining time of a query is
//! `fixed + filter * probes + block * blocks`, for stores and distances in which these differ much; a least-squares fit
//! of the relative errors gives the three. Nearly every looked-up prefix leads to one block, so the fit cannot separate
//! finding from fetching: they are one figure.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    missing_docs
)]

mod common;

use common::even;
use fpstore::plan::{Design, Timings};
use fpstore::{Filters, Options, Parameters, QueryStats, Records, Searcher, Store};
use std::time::Instant;

const ROUNDS: usize = 7;

fn main() {
    let arguments = common::arguments();
    // `cargo test --benches` passes no arguments, and `cargo bench` passes --bench: a small run checks that it works.
    let count = match (arguments.first(), std::env::args().any(|argument| argument == "--bench")) {
        (Some(count), _) => count.parse().expect("a number of fingerprints"),
        (None, true) => 2_000_000,
        (None, false) => 70_000,
    };
    let values = common::uniform(count);
    println!("{count} evenly spread fingerprints, one thread, least of {ROUNDS} rounds");
    let (key, next_block) = scans(&values);
    let [filter, block, fixed] = queries(&values, key);
    let used = Timings::IN_USE;
    println!("ns                           measured   in use");
    for (name, measured, used) in [
        ("ask a filter for a prefix", filter, Some(used.filter)),
        ("find and fetch a block", block, Some(used.place + used.block)),
        ("decode and compare a key", key, Some(used.key)),
        ("next block of a scan", next_block, Some(used.next_block)),
        ("begin and end a query", fixed, None),
    ] {
        println!("{name:26} {measured:10.1} {:>8}", used.map_or("-".to_owned(), |used| format!("{used:.1}")));
    }
}

/// Time of a key and of a block in a scan.
fn scans(values: &[u64]) -> (f64, f64) {
    let [small, large] = [256, 4096].map(|block_size| {
        let store = Opened::new(values, Design::Tables { parts: 1 }, block_size, Filters::Off);
        let blocks = store.store.statistics().tables[0].blocks as f64;
        let time = least(|| _ = store.store.searcher().scan(0, 0).unwrap());
        (blocks, time)
    });
    let keys = values.len() as f64;
    let next_block = (small.1 - large.1) / (small.0 - large.0);
    ((large.1 - next_block * large.0) / keys, next_block)
}

/// Counters and time of a set of queries.
struct Row {
    parts: [f64; 3],
    nanos: f64,
}

fn queries(values: &[u64], key: f64) -> [f64; 3] {
    const QUERIES: u64 = 4000;
    let mut rows = Vec::new();
    for parts in [1, 2, 4] {
        for filters in [Filters::AtOpen, Filters::Off] {
            let opened = Opened::new(values, Design::Tables { parts }, Parameters::BLOCK_SIZE, filters);
            for k in [0, 1, 2, 3, 5] {
                let mut searcher = opened.store.searcher();
                let work = one(&mut searcher, k);
                // A scan, or a thousand queries with this many prefixes, would take minutes and add no information.
                if work.scans > 0 || work.probes > 10_000 {
                    continue;
                }
                let number = if work.probes + 30 * work.blocks > 1000 { QUERIES / 20 } else { QUERIES };
                let mut searcher = opened.store.searcher();
                let nanos = least(|| {
                    (0..number).for_each(|query| _ = searcher.query(even(query + 1_000_000_007), k).unwrap());
                });
                let work = searcher.stats();
                let per = |total: u64| total as f64 / (number * ROUNDS as u64) as f64;
                let probes = if filters == Filters::Off { 0.0 } else { per(work.probes) };
                let row = [probes, per(work.blocks), 1.0];
                rows.push(Row { parts: row, nanos: nanos / number as f64 - key * per(work.candidates) });
            }
        }
    }
    least_squares(&rows)
}

fn one(searcher: &mut Searcher<'_>, k: u32) -> QueryStats {
    searcher.query(even(1_000_000_006), k).unwrap();
    searcher.stats()
}

/// The factors that minimise the sum of the squared relative errors (normal equations, by elimination).
fn least_squares(rows: &[Row]) -> [f64; 3] {
    let mut matrix = [[0.0; 4]; 3];
    for Row { parts, nanos } in rows {
        let weight = 1.0 / (nanos * nanos);
        for (i, line) in matrix.iter_mut().enumerate() {
            (0..3).for_each(|j| line[j] += weight * parts[i] * parts[j]);
            line[3] += weight * parts[i] * nanos;
        }
    }
    for pivot in 0..3 {
        let best = (pivot..3).max_by(|&a, &b| matrix[a][pivot].abs().total_cmp(&matrix[b][pivot].abs()));
        matrix.swap(pivot, best.unwrap());
        let line = matrix[pivot];
        for (_, other) in matrix.iter_mut().enumerate().filter(|(i, _)| *i != pivot) {
            let factor = other[pivot] / line[pivot];
            (0..4).for_each(|j| other[j] -= factor * line[j]);
        }
    }
    [0, 1, 2].map(|i| matrix[i][3] / matrix[i][i])
}

/// A store in a temporary directory.
struct Opened {
    store: Store,
    _directory: tempfile::TempDir,
}

impl Opened {
    fn new(values: &[u64], design: Design, block_size: u32, filters: Filters) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let parameters = Parameters::new(3).with_design(design).with_block_size(block_size);
        let records = Records::Numbered(values.to_vec());
        drop(<Store>::create_loaded(&path, &parameters, &Options::new().with_filters(Filters::Off), records).unwrap());
        let store = <Store>::open_read_only(&path, &Options::new().with_filters(filters)).unwrap();
        Self { store, _directory: directory }
    }
}

/// The minimum time in nanoseconds.
fn least(mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos() as f64
    };
    (0..ROUNDS).map(time).fold(f64::INFINITY, f64::min)
}
