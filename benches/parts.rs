//! Criterion benches of the parts: loading, building filters, decoding a table, queries. `cargo bench --bench parts`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use fpstore::{Codec, Filters, Options, Parameters, Records, Store, inspect};
use std::path::Path;

const BLOCK_SIZES: [u32; 3] = [256, 512, 16_384];

fn parts(criterion: &mut Criterion) {
    // `cargo test --benches` runs this without `--bench`: a small round keeps the program honest.
    let uniform = if std::env::args().any(|argument| argument == "--bench") { 1_000_000 } else { 20_000 };
    for (name, values) in [("uniform", common::uniform(uniform)), ("real", common::real())] {
        for codec in Codec::ALL {
            for block_size in BLOCK_SIZES {
                let directory = tempfile::tempdir().unwrap();
                let path = directory.path().join("store");
                let parameters = Parameters::new(3).with_codec(codec).with_block_size(block_size);
                let records = Records::Numbered(values.clone());
                let options = Options::new().with_filters(Filters::Off);
                drop(<Store>::create_loaded(&path, &parameters, &options, records).unwrap());
                let group = format!("{name}/{codec}/{block_size}");
                decoding(criterion, &group, &path);
                if codec == Codec::Adaptive && block_size == Parameters::BLOCK_SIZE {
                    queries(criterion, &group, &path, &values);
                }
            }
        }
        memcpy(criterion, name, &values);
        load(criterion, name, &values);
    }
}

fn decoding(criterion: &mut Criterion, group: &str, path: &Path) {
    let view = inspect::open(path, &Options::new()).unwrap().remove(0);
    let mut group = criterion.benchmark_group(group);
    group.sample_size(10).throughput(Throughput::Elements(view.statistics().fingerprints));
    group.bench_function("decode a table", |bencher| bencher.iter(|| view.decode_all(0).unwrap()));
}

/// The reference for decoding: a copy of the decoded keys.
fn memcpy(criterion: &mut Criterion, name: &str, values: &[u64]) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(values.len() as u64));
    let mut copy = values.to_vec();
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| std::hint::black_box(&mut copy).copy_from_slice(std::hint::black_box(values)));
    });
}

fn queries(criterion: &mut Criterion, group: &str, path: &Path, values: &[u64]) {
    let mut group = criterion.benchmark_group(group);
    group.sample_size(10);
    let asked = common::queries(values, 200_000);
    for (label, filters) in [("filtered", Filters::AtOpen), ("plain", Filters::Off)] {
        let options = Options::new().with_filters(filters);
        group.bench_function(format!("open, {label}"), |bencher| {
            bencher.iter(|| <Store>::open_read_only(path, &options).unwrap());
        });
        let store = <Store>::open_read_only(path, &options).unwrap();
        let mut searcher = store.searcher();
        let mut next = asked.iter().copied().cycle();
        group.bench_function(format!("query, {label}"), |bencher| {
            bencher.iter(|| searcher.query(next.next().unwrap(), 3).unwrap().len());
        });
        group.bench_function(format!("contains_near, {label}"), |bencher| {
            bencher.iter(|| searcher.contains_near(next.next().unwrap(), 3).unwrap().is_some());
        });
    }
}

fn load(criterion: &mut Criterion, name: &str, values: &[u64]) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).throughput(Throughput::Elements(values.len() as u64));
    group.bench_function("load", |bencher| {
        bencher.iter_batched(
            || (tempfile::tempdir().unwrap(), Records::Numbered(values.to_vec())),
            |(directory, records)| {
                let path = directory.path().join("store");
                let options = Options::new().with_filters(Filters::Off);
                <Store>::create_loaded(path, &Parameters::new(3), &options, records).unwrap();
                directory
            },
            BatchSize::PerIteration,
        );
    });
}

criterion_group!(benches, parts);
criterion_main!(benches);
