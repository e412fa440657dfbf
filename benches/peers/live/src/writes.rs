//! Durable inserts into an empty store.

use crate::Options;
use crate::contestant::{Contestant, Record, Result};
use crate::report::{Line, Times, allocated};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Records to look up after the store is closed and reopened.
const LOOKED_FOR: usize = 1000;

/// The first records of the data, in batches, each durable before the next.
pub(crate) fn batches<C: Contestant>(data: &[u64], directory: &Path, options: &Options) -> Result<()> {
    let records: Vec<Record> = data.iter().copied().zip(0..).take(options.batches * options.batch).collect();
    let disk = bare_syncs(directory, 16 * options.batch)?;
    let store = C::create(directory, records.len())?;
    let mut times = Times::default();
    let start = Instant::now();
    for batch in records.chunks(options.batch) {
        times.time(|| store.insert_batch(batch, true))?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    store.compact()?;
    let compact = start.elapsed().as_secs_f64();
    let table_bytes = store.table_bytes()?;
    drop(store);
    reopened::<C>(directory, &records, records.len())?;
    Line::new(C::NAME, "durable batches")
        .number("records", records.len())
        .number("records_per_s", records.len() as f64 / seconds)
        .times("batch", &times)
        .times("disk_sync", &disk)
        .number("compact_s", compact)
        .number("table_bytes", table_bytes)
        .number("allocated_bytes", allocated(directory)?)
        .print()
}

/// Single records, by many threads; each waits until its record is durable.
pub(crate) fn singles<C: Contestant>(data: &[u64], directory: &Path, options: &Options) -> Result<()> {
    let disk = bare_syncs(directory, 16)?;
    let store = C::create(directory, data.len())?;
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let insert = || -> Result<Times> {
        let mut times = Times::default();
        while start.elapsed() < options.time() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let record = (data[number % data.len()], number as u64);
            times.time(|| store.insert_one_durable(record))?;
        }
        Ok(times)
    };
    let mut times = Times::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.threads).map(|_| scope.spawn(insert)).collect();
        for thread in threads {
            times.append(thread.join().map_err(|_| "a thread panicked")??);
        }
        Result::Ok(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    drop(store);
    let records: Vec<Record> = data.iter().copied().cycle().zip(0..).take(times.count()).collect();
    reopened::<C>(directory, &records, data.len())?;
    Line::new(C::NAME, "durable singles")
        .number("threads", options.threads)
        .number("inserts_per_s", times.count() as f64 / seconds)
        .times("insert", &times)
        .times("disk_sync", &disk)
        .print()
}

/// Fails if a reopened store lacks one of these records.
pub(crate) fn reopened<C: Contestant>(directory: &Path, records: &[Record], size: usize) -> Result<()> {
    let store = C::open(directory, size)?;
    for record in records.iter().step_by(records.len().div_ceil(LOOKED_FOR).max(1)) {
        if !store.query(record.0)?.contains(record) {
            return Err(format!("{} lost {record:x?}", C::NAME).into());
        }
    }
    Ok(())
}

/// The time of the disk alone for as many bytes, appended and synced, for comparison with the store.
fn bare_syncs(directory: &Path, bytes: usize) -> Result<Times> {
    let path = directory.with_extension("syncs");
    let mut file = std::fs::File::create_new(&path)?;
    let mut times = Times::default();
    for _ in 0..200 {
        times.time(|| {
            file.write_all(&vec![1; bytes])?;
            Ok(file.sync_data()?)
        })?;
    }
    std::fs::remove_file(path)?;
    Ok(times)
}
