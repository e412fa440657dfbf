//! A crawler's check: has a page like this one been seen before?
//!
//! `cargo run --release --example seen_before`. The store holds yesterday's pages; every page of today is looked up at
//! page speed, before its links are followed.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use fpstore::{Options, Parameters, Record, Records, Result, Store};

/// Near-duplicates differ in at most this many of 64 bits: the figure of the WWW 2007 paper for simhash.
const DISTANCE: u32 = 3;

fn main() -> Result<()> {
    let directory = std::env::temp_dir().join(format!("fpstore-seen-before-{}", std::process::id()));
    let outcome = crawl(&directory);
    // The example leaves nothing behind, whatever happened.
    let _ = std::fs::remove_dir_all(&directory);
    outcome
}

fn crawl(directory: &std::path::Path) -> Result<()> {
    let yesterday = [
        Record::new(0x832f_e9f6_aa2f_461a, 1001u64),
        Record::new(0x4a1d_7c02_93be_55f0, 1002u64),
        Record::new(0x0004_67d9_a21f_c669, 1003u64),
    ];
    let options = Options::new();
    let (store, report) =
        <Store>::create_loaded(directory, &Parameters::new(DISTANCE), &options, Records::WithIds(yesterday.to_vec()))?;
    println!("{} pages of yesterday are stored", report.added());

    let today = [
        ("the same page", 0x832f_e9f6_aa2f_461a),
        ("the page with another date on it", 0x832f_e9f6_aa2d_461a),
        ("a page that nobody has seen", 0x19c8_f3e0_0b64_d2a7),
    ];
    // One searcher a thread: it keeps its buffers from page to page.
    let mut searcher = store.searcher();
    for (page, fingerprint) in today {
        match searcher.contains_near(fingerprint, DISTANCE)? {
            Some(seen) => println!("skip   {page}: {} bits from document {}", seen.distance, seen.id),
            None => println!("follow {page}"),
        }
    }
    assert_eq!(searcher.query(0x832f_e9f6_aa2d_461a, DISTANCE)?.len(), 1);
    Ok(())
}
