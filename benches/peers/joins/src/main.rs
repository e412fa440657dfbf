//! All pairs of distinct fingerprints within a distance, by other libraries:
//! `fpstore-join-peers LIBRARY FILE.u64 K [SAMPLE]`. Prints a line of JSON: found pairs, seconds of building and of
//! joining.
//!
//! all-pairs-hamming joins on one thread, unmodified. mih-rs queries every fingerprint on all threads, or SAMPLE of
//! them, and the time is scaled up.

use rayon::prelude::*;
use std::error::Error;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, file, k, sample @ ..] = &arguments[..] else { return Err("LIBRARY FILE K [SAMPLE]".into()) };
    let bytes = std::fs::read(file)?;
    let mut values: Vec<u64> =
        bytes.chunks_exact(8).filter_map(|chunk| Some(u64::from_le_bytes(*chunk.first_chunk()?))).collect();
    drop(bytes);
    values.sort_unstable();
    values.dedup();
    let k: u32 = k.parse()?;
    let (pairs, build, join) = match library.as_str() {
        "all-pairs-hamming" => all_pairs(&values, k)?,
        "mih-rs" => mih(&values, k, sample.first().map(|count| count.parse()).transpose()?)?,
        other => return Err(format!("there is no {other}").into()),
    };
    println!("{{\"pairs\": {pairs}, \"build\": {build}, \"join\": {join}}}");
    Ok(())
}

fn all_pairs(values: &[u64], k: u32) -> Result<(f64, f64, f64)> {
    let start = Instant::now();
    let mut joiner = all_pairs_hamming::ChunkedJoiner::<u64>::new(1);
    for &value in values {
        joiner.add([value])?;
    }
    let build = start.elapsed().as_secs_f64();
    let start = Instant::now();
    // The radius is a share of the bits; half a bit more, because rounding must not exclude a pair.
    let pairs = joiner.similar_pairs((f64::from(k) + 0.5) / 64.0);
    Ok((pairs.len() as f64, build, start.elapsed().as_secs_f64()))
}

fn mih(values: &[u64], k: u32, sample: Option<usize>) -> Result<(f64, f64, f64)> {
    let start = Instant::now();
    let index = mih_rs::Index::new(values.to_vec())?;
    let build = start.elapsed().as_secs_f64();
    let step = sample.map_or(1, |count| (values.len() / count.max(1)).max(1));
    let asked: Vec<(u32, u64)> = (0u32..).zip(values.iter().copied()).step_by(step).collect();
    let start = Instant::now();
    let pairs: usize = asked
        .par_chunks(1024)
        .map(|lot| {
            let mut searcher = index.range_searcher();
            let mut found = 0;
            for &(own, value) in lot {
                found += searcher.run(value, k as usize).iter().filter(|&&other| other > own).count();
            }
            found
        })
        .sum();
    Ok((pairs as f64 * step as f64, build, start.elapsed().as_secs_f64() * step as f64))
}
