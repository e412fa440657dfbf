//! The figures of benches/results/ that concern fpstore alone: sizes, load time, decoding, query latency.
//!
//! `cargo bench --bench figures -- uniform 20000000` or `-- FILE.u64`. All files are in a temporary directory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs
)]

mod common;

use common::{read, uniform};
use fpstore::{Codec, Filters, Options, Parameters, ReadMode, Records, Store, inspect};
use std::time::{Duration, Instant};

fn main() {
    let arguments = common::arguments();
    let values = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["uniform", count] => uniform(count.parse().expect("a number of fingerprints")),
        [file] => read(file),
        // `cargo test --benches` passes no arguments: a small run checks that the program works.
        _ => uniform(2_000),
    };
    println!("{} records, {} threads", values.len(), rayon::current_num_threads());
    println!(
        "codec     block   load s   table 0   table 1     bound   ids bits   decode ns   resident B/fp   query us, filters off / on"
    );
    for block_size in [256, 16384] {
        sizes(&values, Codec::Xor, block_size);
    }
    for shift in 7..=16 {
        sizes(&values, Codec::Adaptive, 1 << shift);
    }
    println!();
    println!(
        "query: one thread, k = 3, adaptive, 256-byte blocks, half of the queries within 3 bits of a stored value"
    );
    println!("mode  filters  queries    p50 us    p99 us   mean us   probes   blocks   candidates   matches");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let parameters = Parameters::new(3);
    drop(<Store>::create_loaded(&path, &parameters, &Options::new(), Records::Numbered(values.clone())).unwrap());
    for mode in [ReadMode::Mmap, ReadMode::Pread] {
        for filters in [Filters::Off, Filters::AtOpen] {
            let options = Options::new().with_read_mode(mode).with_filters(filters);
            let start = Instant::now();
            let store = <Store>::open_read_only(&path, &options).unwrap();
            let label = format!("{mode:?} {filters:?}").to_lowercase();
            println!("{label}: opened in {:.0} ms", start.elapsed().as_secs_f64() * 1000.0);
            queries(&store, &values, &label);
        }
    }
}

/// Loads, decodes and prints one line.
fn sizes(values: &[u64], codec: Codec, block_size: u32) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let parameters = Parameters::new(3).with_codec(codec).with_block_size(block_size);
    let records = Records::Numbered(values.to_vec());
    let start = Instant::now();
    let (store, _) = <Store>::create_loaded(&path, &parameters, &Options::new(), records).unwrap();
    let load = start.elapsed();
    let statistics = store.statistics();
    drop(store);
    let view = inspect::open(&path, &Options::new()).unwrap().remove(0);
    let decode = median(7, || _ = std::hint::black_box(view.decode_all(0).unwrap()));
    let [first, second] = &statistics.tables[..] else { panic!("two tables") };
    let per = |bytes: u64, count: u64| bytes as f64 / count as f64;
    let [off, on] = [Filters::Off, Filters::AtOpen].map(|filters| {
        let store = <Store>::open_read_only(&path, &Options::new().with_filters(filters)).unwrap();
        // Queries take longer with larger blocks, so fewer of them suffice.
        let queries = common::queries(values, 200_000.min(values.len() * 4));
        let queries = queries.get(..queries.len() * 256 / block_size.max(256) as usize).unwrap_or_default();
        let mut searcher = store.searcher();
        median(3, || queries.iter().for_each(|&query| _ = std::hint::black_box(searcher.query(query, 3).unwrap())))
            .as_nanos() as f64
            / queries.len() as f64
            / 1000.0
    });
    println!(
        "{codec:9} {block_size:5} {:8.2} {:9.3} {:9.3} {:9.3} {:10.2} {:11.2} {:15.3} {off:17.2} / {on:.2}",
        load.as_secs_f64(),
        first.bits_per_fingerprint(),
        second.bits_per_fingerprint(),
        first.information_bound_bits.unwrap_or(0.0),
        per(statistics.id_bytes * 8, statistics.records),
        decode.as_nanos() as f64 / first.fingerprints as f64,
        per(statistics.resident_bytes, statistics.fingerprints),
    );
}

fn queries(store: &Store, values: &[u64], label: &str) {
    let queries = common::queries(values, 200_000.min(values.len() * 4));
    let count = queries.len();
    let mut searcher = store.searcher();
    let mut matches = 0;
    let mut times: Vec<Duration> = queries
        .iter()
        .map(|&query| {
            let start = Instant::now();
            matches += searcher.query(query, 3).unwrap().len();
            start.elapsed()
        })
        .collect();
    let total: Duration = times.iter().sum();
    times.sort_unstable();
    let micros = |time: Duration| time.as_nanos() as f64 / 1000.0;
    let work = searcher.stats();
    let per = |value: u64| value as f64 / count as f64;
    println!(
        "{:13} {count:8} {:9.2} {:9.2} {:9.2} {:8.1} {:8.1} {:12.0} {:9.2}",
        label,
        micros(times[count / 2]),
        micros(times[count * 99 / 100]),
        micros(total) / count as f64,
        per(work.probes),
        per(work.blocks),
        per(work.candidates),
        matches as f64 / count as f64,
    );
}

fn median(runs: usize, mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[runs / 2]
}
