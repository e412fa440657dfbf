//! A store with all the data: its size, its queries, and `insert_if_new`.

use crate::Options;
use crate::contestant::{Contestant, Record, Result};
use crate::data::{Random, Sample};
use crate::report::{Line, Times, allocated, anonymous_bytes};
use crate::writes::reopened;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Records of a batch that is inserted during queries.
const LOT: usize = 100;

/// Queries before the measured ones, for tuning and for filling caches.
const WARM_UP: usize = 20_000;

pub(crate) fn stored<C: Contestant>(data: Vec<u64>, directory: &Path, options: &Options) -> Result<()> {
    let sample = Sample::of(&data);
    let count = data.len();
    let some: Vec<Record> = data.iter().copied().zip(0..).step_by(count.div_ceil(1000).max(1)).collect();
    let mut store = C::create(directory, count)?;
    let start = Instant::now();
    store.load(&data)?;
    let line = Line::new(C::NAME, "load").number("records", count).number("seconds", start.elapsed().as_secs_f64());
    line.print()?;
    drop(data);
    size(&store, "size after load", directory, count)?;

    let warm_up = sample.mixed(WARM_UP, 1);
    ask(&store, &warm_up, options.most())?;
    Line::new(C::NAME, "tune").text("choice", &store.tune(&warm_up)?).print()?;
    let queries = sample.mixed(options.queries, 2);
    let (times, matches) = ask(&store, &queries, options.most())?;
    let line = Line::new(C::NAME, "queries, idle").times("query", &times).number("queries", times.count());
    line.number("matches", matches).number("anonymous_bytes", anonymous_bytes()?).print()?;

    let mut id = count as u64;
    checks(&store, &sample.mixed(options.operations, 3), &mut id, options)?;
    beside(&store, "queries, paced inserts", &queries, &sample, &mut id, Some(options.rate), options)?;
    beside(&store, "queries, inserts at full speed", &queries, &sample, &mut id, None, options)?;
    size(&store, "size after inserts", directory, id as usize)?;
    drop(store);
    reopened::<C>(directory, &some, count)?;
    let closed = Line::new(C::NAME, "closed").number("records", id).number("allocated_bytes", allocated(directory)?);
    closed.print()
}

/// Compacts, and reports the remaining size.
fn size<C: Contestant>(store: &C, result: &str, directory: &Path, records: usize) -> Result<()> {
    let start = Instant::now();
    store.compact()?;
    let line = Line::new(C::NAME, result).number("compact_s", start.elapsed().as_secs_f64()).number("records", records);
    let bytes = store.table_bytes()?;
    let line = line.number("table_bytes", bytes).number("bytes_per_record", bytes as f64 / records as f64);
    line.number("allocated_bytes", allocated(directory)?).print()
}

/// Times of queries, up to the time limit, and the number of found records.
fn ask<C: Contestant>(store: &C, queries: &[u64], most: Duration) -> Result<(Times, usize)> {
    let (mut times, mut matches) = (Times::default(), 0);
    let start = Instant::now();
    for &query in queries.iter().take_while(|_| start.elapsed() < most) {
        matches += times.time(|| store.query(query))?.len();
    }
    Ok((times, matches))
}

/// Inserts each value unless it is near a stored one. Values at even positions are near one.
fn checks<C: Contestant>(store: &C, values: &[u64], id: &mut u64, options: &Options) -> Result<()> {
    let mut times = [Times::default(), Times::default()];
    let before = *id;
    let start = Instant::now();
    for (number, &value) in values.iter().enumerate().take_while(|_| start.elapsed() < options.most()) {
        *id += u64::from(times[number % 2].time(|| store.insert_if_new((value, *id)))?);
    }
    let (seconds, operations) = (start.elapsed().as_secs_f64(), times[0].count() + times[1].count());
    Line::new(C::NAME, "insert if new")
        .number("operations", operations)
        .number("inserted", *id - before)
        .number("operations_per_s", operations as f64 / seconds)
        .times("near", &times[0])
        .times("new", &times[1])
        .print()
}

/// Queries while one thread inserts: at a rate, if there is one, and if the store can sustain it.
fn beside<C: Contestant>(
    store: &C,
    result: &str,
    queries: &[u64],
    sample: &Sample,
    id: &mut u64,
    rate: Option<usize>,
    options: &Options,
) -> Result<()> {
    let done = AtomicBool::new(false);
    let random = &mut Random(*id);
    let before = *id;
    let start = Instant::now();
    let insert = || -> Result<u64> {
        let mut id = before;
        while !done.load(Ordering::Relaxed) {
            let lot: Vec<Record> = (id..).take(LOT).map(|id| (sample.far(random), id)).collect();
            store.insert_batch(&lot, false)?;
            id += LOT as u64;
            if let Some(rate) = rate {
                let due = Duration::from_secs_f64((id - before) as f64 / rate as f64);
                std::thread::sleep(due.saturating_sub(start.elapsed()));
            }
        }
        Ok(id)
    };
    let mut times = Times::default();
    let seconds = std::thread::scope(|scope| {
        let inserting = scope.spawn(insert);
        let asked = (|| {
            while start.elapsed() < options.time() {
                times.append(ask(store, queries, options.time().saturating_sub(start.elapsed()))?.0);
            }
            Result::Ok(())
        })();
        done.store(true, Ordering::Relaxed);
        *id = inserting.join().map_err(|_| "a thread panicked")??;
        asked.map(|()| start.elapsed().as_secs_f64())
    })?;
    Line::new(C::NAME, result)
        .times("query", &times)
        .number("queries", times.count())
        .number("inserts_per_s", (*id - before) as f64 / seconds)
        .print()
}
