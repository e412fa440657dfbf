//! A batch of queries on all threads: merged with the tables; probing the tables; and probing through filters.
//!
//! `cargo bench --bench batch -- STORE QUERIES [RUNS]`: as many queries within distance 3, half of them stored values
//! with up to three bits flipped, half uniform. The methods alternate; the medians follow at the end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs
)]

mod common;

use fpstore::{BatchStrategy, Filters, Options, Parameters, Records, Store};
use rayon::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant};

const K: u32 = 3;

fn main() {
    let arguments = common::arguments();
    let number = |text: &str| text.parse().expect("a number");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [store, queries] => measure(Path::new(store), number(queries), 5),
        [store, queries, runs] => measure(Path::new(store), number(queries), number(runs)),
        // `cargo test --benches` passes no arguments: a small run checks that the program works.
        _ => {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("store");
            let records = Records::Numbered(common::uniform(20_000));
            drop(<Store>::create_loaded(&path, &Parameters::new(K), &Options::new(), records).unwrap());
            measure(&path, 2000, 1);
        }
    }
}

fn measure(path: &Path, count: usize, runs: usize) {
    let store = <Store>::open_read_only(path, &Options::new().with_filters(Filters::Off)).unwrap();
    let records = usize::try_from(store.statistics().records).unwrap();
    let every = (records / count.max(1)).max(1);
    let stored: Vec<u64> = store.records().step_by(every).map(|record| record.unwrap().fingerprint).collect();
    let queries = common::queries(&stored, count);
    println!("{records} records, {count} queries, {} threads", rayon::current_num_threads());
    let batch = |store: &Store, way| {
        store.searcher().query_batch(&queries, K, way).unwrap().iter().map(Vec::len).sum::<usize>()
    };
    let single = |store: &Store| -> usize {
        let answers = queries.par_chunks(1024).map_init(
            || store.searcher(),
            |searcher, queries| -> usize { queries.iter().map(|&query| searcher.query(query, K).unwrap().len()).sum() },
        );
        answers.sum()
    };
    let mut merged = Vec::new();
    let mut medians = Vec::new();
    for filters in [false, true] {
        let started = Instant::now();
        if filters {
            store.make_filters(Filters::AtOpen);
            println!("filters made in {:.2} s", started.elapsed().as_secs_f64());
        }
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..runs {
            let (matches, time) = timed(|| batch(&store, BatchStrategy::Always));
            merged.push(time);
            for (times, (found, time)) in
                times.iter_mut().zip([timed(|| batch(&store, BatchStrategy::Never)), timed(|| single(&store))])
            {
                assert_eq!(found, matches);
                times.push(time);
            }
        }
        let label = if filters { "through filters" } else { "without filters" };
        let [never, one] = times;
        medians.push((format!("probing, several together, {label}"), median(never)));
        medians.push((format!("probing one by one, {label}"), median(one)));
    }
    let merged = median(merged);
    println!("{:46} {:8.3} s", "merged", merged.as_secs_f64());
    for (label, time) in medians {
        println!("{label:46} {:8.3} s {:6.1} x", time.as_secs_f64(), time.as_secs_f64() / merged.as_secs_f64());
    }
}

fn timed(work: impl FnOnce() -> usize) -> (usize, Duration) {
    let start = Instant::now();
    (work(), start.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
