//! Criterion benches of the parts: loading, decoding a table, queries. `cargo bench --bench parts`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use fpstore::{Codec, Options, Parameters, Records, Store, inspect};
use std::path::Path;

/// splitmix64.
fn uniform(count: u64) -> Vec<u64> {
    (1..=count)
        .map(|i| {
            let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
        .collect()
}

fn real() -> Vec<u64> {
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/real_simhash64.u64")).unwrap();
    bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect()
}

fn parts(criterion: &mut Criterion) {
    for (name, values) in [("uniform", uniform(1_000_000)), ("real", real())] {
        let directory = tempfile::tempdir().unwrap();
        for codec in Codec::ALL {
            let path = directory.path().join(codec.name());
            let parameters = Parameters::new(3).with_codec(codec);
            let records = Records::Numbered(values.clone());
            let (store, report) = Store::create_loaded(&path, &parameters, &Options::new(), records).unwrap();

            let mut group = criterion.benchmark_group(format!("{name}/{codec}"));
            group.sample_size(10);
            group.throughput(Throughput::Elements(report.fingerprints));
            let view = inspect::open(&path, &Options::new()).unwrap().remove(0);
            group.bench_function("decode a table", |bencher| bencher.iter(|| view.decode_all(0).unwrap()));

            group.throughput(Throughput::Elements(1));
            let mut searcher = store.searcher();
            let mut queries = values.iter().step_by(13).map(|value| value ^ (1 << 40)).cycle();
            group.bench_function("query", |bencher| {
                bencher.iter(|| searcher.query(queries.next().unwrap(), 3).unwrap().len());
            });
            group.bench_function("contains_near", |bencher| {
                bencher.iter(|| searcher.contains_near(queries.next().unwrap(), 3).unwrap().is_some());
            });
        }
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        group.throughput(Throughput::Elements(values.len() as u64));
        group.bench_function("load", |bencher| {
            bencher.iter_batched(
                || (tempfile::tempdir().unwrap(), Records::Numbered(values.clone())),
                |(directory, records)| {
                    let path = directory.path().join("store");
                    Store::create_loaded(path, &Parameters::new(3), &Options::new(), records).unwrap();
                    directory
                },
                BatchSize::PerIteration,
            );
        });
    }
}

criterion_group!(benches, parts);
criterion_main!(benches);
