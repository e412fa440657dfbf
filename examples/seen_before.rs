//! A crawler's check: skips a page if the store has a near-duplicate, and inserts it otherwise.
//!
//! `cargo run --release --example seen_before`. Several threads fetch pages; each checks the store and writes to it in
//! one atomic step, so that of two near-duplicates that arrive together the crawler follows exactly one. The process
//! may be killed at any moment: a reopened store has every acknowledged page.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use fpstore::{Durability, Options, Parameters, Result, Store};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Near-duplicates differ in at most this many of 64 bits: the value of the WWW 2007 paper for simhash.
const DISTANCE: u32 = 3;
const THREADS: u64 = 4;
const PAGES: u64 = 20_000;

fn main() -> Result<()> {
    let directory = std::env::temp_dir().join(format!("fpstore-seen-before-{}", std::process::id()));
    let outcome = crawl(&directory);
    // The example leaves no files behind, even after an error.
    let _ = std::fs::remove_dir_all(&directory);
    outcome
}

fn crawl(directory: &Path) -> Result<()> {
    // An index of the ids finds a page that is crawled again by its number.
    let parameters = Parameters::new(DISTANCE).with_id_index(true);
    let store = Store::<u64>::create(directory, &parameters, &Options::new())?;
    let (followed, skipped) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn({
                    let (store, followed, skipped) = (&store, &followed, &skipped);
                    move || -> Result<()> {
                        for page in (thread..PAGES).step_by(THREADS as usize) {
                            // Group commit: one sync of the device serves all waiting threads.
                            let seen =
                                store.insert_if_new(fingerprint_of(page), page, DISTANCE, Durability::SyncData)?;
                            if seen.inserted { followed } else { skipped }.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(())
                    }
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    println!("{} pages followed, {} skipped as near-duplicates", followed.into_inner(), skipped.into_inner());

    // A changed page: one atomic step replaces its old fingerprint by the new one.
    let before = store.get_id(0)?;
    store.replace(!fingerprint_of(0), 0, Durability::SyncData)?;
    println!("page 0 was {before:016x?}, is {:016x?}", store.get_id(0)?);

    // The process may end in any way now. The next process that opens the store finds everything.
    drop(store);
    let store = Store::<u64>::open(directory, &Options::new())?;
    println!("{} pages after reopening", store.records().count());
    assert!(store.query(!fingerprint_of(0), DISTANCE)?.iter().any(|found| found.id == 0));
    Ok(())
}

/// Stands for the simhash of a fetched page: every fifth page differs in a bit or two from one of the pages before it.
fn fingerprint_of(page: u64) -> u64 {
    let mix = |number: u64| {
        let z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        z ^ (z >> 32)
    };
    if page % 5 == 4 { mix(page - 4) ^ 1 << (page % 64) } else { mix(page) }
}
