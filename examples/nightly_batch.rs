//! A nightly batch: compares last night's crawl with everything before it, on all cores, and then adds it.
//!
//! `cargo run --release --example nightly_batch [FILE.u64]`; without a file, it uses the real fingerprints of the
//! repository. The first nine tenths count as the past, the rest as last night.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use fpstore::{Options, Parameters, Record, Records, Store};
use rayon::prelude::*;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

const DISTANCE: u32 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/real_simhash64.u64");
    let file = std::env::args_os().nth(1).map_or(sample, PathBuf::from);
    let directory = std::env::temp_dir().join(format!("fpstore-nightly-batch-{}", std::process::id()));
    let outcome = batch(&file, &directory);
    // The example leaves no files behind, even after an error.
    let _ = std::fs::remove_dir_all(&directory);
    outcome
}

fn batch(file: &Path, directory: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let values = bytes.chunks_exact(8).filter_map(|chunk| Some(u64::from_le_bytes(*chunk.first_chunk()?)));
    let records: Vec<Record> = values.zip(0..).map(|(fingerprint, id)| Record::new(fingerprint, id)).collect();
    let (past, tonight) = records.split_at(records.len() / 10 * 9);

    let start = Instant::now();
    let loaded = Records::WithIds(past.to_vec());
    let (store, report) = <Store>::create_loaded(directory, &Parameters::new(DISTANCE), &Options::new(), loaded)?;
    println!("{} records loaded in {:.2} s", report.added(), start.elapsed().as_secs_f64());

    let start = Instant::now();
    let near: usize = tonight
        .par_chunks(256)
        .map(|pages| {
            let mut searcher = store.searcher();
            pages.iter().try_fold(0, |near, page| {
                let seen = searcher.contains_near(page.fingerprint, DISTANCE)?;
                Ok::<usize, fpstore::Error>(near + usize::from(seen.is_some()))
            })
        })
        .try_reduce(|| 0, |a, b| Ok(a + b))?;
    println!(
        "{near} of last night's {} are near-duplicates of earlier ones, found in {:.2} s",
        tonight.len(),
        start.elapsed().as_secs_f64()
    );

    let report = store.bulk_load(Records::WithIds(tonight.to_vec()))?;
    let statistics = store.statistics();
    println!(
        "{} records added; {} records in {} segments, {} bytes",
        report.added(),
        statistics.records,
        statistics.segments,
        statistics.file_bytes
    );
    let damages = store.verify()?.damages;
    assert!(damages.is_empty(), "a store that was just written is sound: {damages:?}");
    Ok(())
}
