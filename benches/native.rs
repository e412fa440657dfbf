//! The work of `benches/peers/python.py` in Rust alone, to compare the bindings with.
//!
//! `cargo bench --bench native -- FILE.u64 STORE` loads the fingerprints of the file (little-endian) into a new store,
//! with numbers from 0 as ids, asks a million of them in one batch and 100,000 one by one, finds all pairs of records, and
//! prints a JSON object: seconds of each, microseconds of a single query, and bytes of memory before the work. `-- --texts
//! FILE.ndjson` makes the fingerprints of texts that are in memory.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, clippy::print_stdout, missing_docs)]

mod common;

use fpsketch::{Simhash, SimhashPreset};
use fpstore::bulk::RecordSorter;
use fpstore::pairs::RecordPairs;
use fpstore::plan::{Goal, Workload, recommend};
use fpstore::{BatchStrategy, Filters, IdRef, Options, Parameters, Store};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

const K: u32 = 3;
const BATCH: usize = 1_000_000;
const SINGLE: usize = 100_000;

fn main() {
    let arguments = common::arguments();
    match arguments.as_slice() {
        [option, file] if option == "--texts" => sketch(Path::new(file)),
        [file, store] => measure(&common::read(file), Path::new(store)),
        // `cargo test --benches` passes no arguments: a small run checks that the program works.
        _ => {
            let directory = tempfile::tempdir().unwrap();
            measure(&common::uniform(20_000), &directory.path().join("store"));
        }
    }
}

/// Bytes of memory that are not of mapped files.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = anonymous.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn sketch(file: &Path) {
    #[derive(serde::Deserialize)]
    struct Line {
        text: String,
    }
    let lines = std::fs::read_to_string(file).unwrap();
    let texts: Vec<String> = lines.lines().map(|line| serde_json::from_str::<Line>(line).unwrap().text).collect();
    let started = Instant::now();
    let simhash = Simhash::new(SimhashPreset::Native);
    let made: Vec<u128> = texts.par_iter().map(|text| simhash.fingerprint(text.as_str().into())).collect();
    let took = started.elapsed().as_secs_f64();
    let sum = made.iter().fold(0_u64, |sum, one| sum.wrapping_add(u64::try_from(*one).unwrap()));
    println!("{{\"simhash\": {took:.4}, \"found\": {sum}}}");
}

fn measure(fingerprints: &[u64], path: &Path) {
    let before = resident();
    let started = Instant::now();
    let workload = Workload {
        fingerprints: 100_000_000,
        width: 64,
        distance: K,
        block_size: Parameters::BLOCK_SIZE,
        filter: true,
    };
    let design = recommend(Goal::Balanced, &workload).unwrap();
    let options = Options::new().with_filters(Filters::AtOpen);
    let store = Store::<u64>::create(path, &Parameters::new(K).with_design(design), &options).unwrap();
    let mut sorter = RecordSorter::new(path, &options);
    (0..).zip(fingerprints).try_for_each(|(id, one)| sorter.push(*one, IdRef::Number(id))).unwrap();
    store.bulk_load(sorter.finish().unwrap()).unwrap();
    let load = started.elapsed().as_secs_f64();
    store.close().unwrap();

    let store = Store::<u64>::open_read_only(path, &options).unwrap();
    let every = (fingerprints.len() / BATCH).max(1);
    let queries: Vec<u64> = fingerprints.iter().step_by(every).take(BATCH).map(|one| one ^ 5).collect();
    let started = Instant::now();
    let answers = store.searcher().query_batch(&queries, K, BatchStrategy::Auto).unwrap();
    let found: usize = answers.iter().map(Vec::len).sum();
    let batch = started.elapsed().as_secs_f64();
    drop(answers);

    let started = Instant::now();
    let single: usize = queries.iter().take(SINGLE).map(|query| store.query(*query, K).unwrap().len()).sum();
    let one = started.elapsed().as_secs_f64() / queries.len().min(SINGLE) as f64 * 1e6;

    let started = Instant::now();
    let mut pairs = 0;
    let add = |rows: &mut Vec<(u64, u64)>, found: RecordPairs<'_>| {
        let ids = found.a.iter().flat_map(|a| found.b.iter().map(move |b| (a.number(), b.number())));
        rows.extend(ids.map(|(a, b)| (a.unwrap_or(0), b.unwrap_or(0))));
        if rows.len() < 1 << 14 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let sink = |rows: Vec<(u64, u64)>| {
        pairs += rows.len();
        Ok(ControlFlow::Continue(()))
    };
    store.pairs(K).unwrap().visit_records(add, sink).unwrap();
    let join = started.elapsed().as_secs_f64();
    println!(
        "{{\"load\": {load:.3}, \"batch\": {batch:.3}, \"single\": {one:.3}, \"pairs\": {join:.3}, \
         \"before\": {before}, \"found\": [{found}, {single}, {pairs}]}}"
    );
}
