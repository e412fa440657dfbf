//! Queries on a cold disk: `cargo bench --bench cold -- 100000000 [DIRECTORY]`.
//!
//! Stores of uniform fingerprints with several plans, read with positioned reads. Before every query the kernel drops
//! the store's pages, so that each block comes from the disk; the block index and filters stay in memory. Prints for
//! each plan the latency and the blocks read per query, at k = 3, half of the queries near a stored value.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]

mod common;

use fpstore::plan::{self, Design, Goal, Workload};
use fpstore::{Filters, Options, Parameters, ReadMode, Records, Store};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

const QUERIES: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    // `cargo test --benches` passes no arguments: a small run checks that the program works.
    let count: u64 = arguments.first().map_or(20_000, |count| count.parse().unwrap());
    let directory = arguments.get(1).map_or_else(std::env::temp_dir, Into::into);
    let directory = tempfile::tempdir_in(directory).unwrap();
    let values = common::uniform(count);
    for filter in [false, true] {
        let workload =
            Workload { fingerprints: count, width: 64, distance: 3, block_size: Parameters::BLOCK_SIZE, filter };
        println!(
            "auto:disk {} filters: {}",
            if filter { "with" } else { "without" },
            plan::recommend(Goal::Disk, &workload).unwrap()
        );
    }
    println!("\n{count} fingerprints, {QUERIES} queries");
    println!("plan          filters  bytes each   p50 us   p99 us  blocks a query");
    let plans = [
        (Design::Tables { parts: 1 }, Filters::AtOpen),
        (Design::Tables { parts: 2 }, Filters::Off),
        (Design::Tables { parts: 2 }, Filters::AtOpen),
        (Design::Choose { chosen: 2, parts: 5 }, Filters::Off),
        (Design::Nested { outer: 4, inner: 4 }, Filters::Off),
    ];
    let mut made: Option<Design> = None;
    for (design, filters) in plans {
        let path = directory.path().join(design.to_string());
        if made != Some(design) {
            let parameters = Parameters::new(3).with_design(design);
            let options = Options::new().with_filters(Filters::Off);
            drop(<Store>::create_loaded(&path, &parameters, &options, Records::Numbered(values.clone())).unwrap());
            made = Some(design);
        }
        let options = Options::new().with_filters(filters).with_read_mode(ReadMode::Pread);
        measure(&path, &<Store>::open_read_only(&path, &options).unwrap(), &values, filters);
        if filters == Filters::AtOpen || !matches!(design, Design::Tables { .. }) {
            std::fs::remove_dir_all(&path).unwrap();
        }
    }
}

fn measure(path: &Path, store: &Store, values: &[u64], filters: Filters) {
    let segment = File::open(path.join("00000001.segment")).unwrap();
    let mut searcher = store.searcher();
    let mut times: Vec<Duration> = common::queries(values, QUERIES)
        .into_iter()
        .map(|query| {
            drop_cache(&segment);
            let start = Instant::now();
            searcher.query(query, 3).unwrap();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let micros = |time: Duration| time.as_nanos() as f64 / 1000.0;
    let statistics = store.statistics();
    println!(
        "{:12} {:>8} {:11.2} {:8.0} {:8.0} {:15.1}",
        store.parameters().design().to_string(),
        if filters == Filters::Off { "off" } else { "on" },
        (statistics.file_bytes - statistics.id_bytes + statistics.resident_bytes + store.filter_bytes()) as f64
            / statistics.fingerprints as f64,
        micros(times[QUERIES / 2]),
        micros(times[QUERIES * 99 / 100]),
        searcher.stats().blocks as f64 / QUERIES as f64,
    );
}

#[cfg(target_os = "linux")]
fn drop_cache(file: &File) {
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

#[cfg(not(target_os = "linux"))]
fn drop_cache(_: &File) {
    panic!("how pages are dropped from the cache is known for Linux only");
}
