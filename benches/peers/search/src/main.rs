//! Builds one peer's index in this process, queries it, and prints the cost as a line of JSON.
//!
//! `fpstore-peers --list` names the peers, `fpstore-peers PEER DATA QUERIES WARM-UP DISTINCT [K]` runs one. The files
//! hold raw little-endian 64-bit fingerprints; DISTINCT is the number of distinct values in DATA, the divisor of the
//! sizes; K is the distance, 3 by default. A process runs one peer only, because it measures the memory of the process.
//! `../search.py` runs all of them and compares.

mod fpstore_peer;
mod measure;
mod mih_peer;
mod peer;
mod permuted;
mod redb_peer;
#[cfg(feature = "rocksdb")]
mod rocksdb_ffi;
#[cfg(feature = "rocksdb")]
mod rocksdb_peer;
mod sorted_peer;

use peer::{Peer, Result};
use std::time::Instant;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => peer::all(3).iter().for_each(|peer| println!("{}", peer.name)),
        [name, data, queries, warm_up, distinct, k @ ..] if k.len() <= 1 => {
            let k = k.first().map_or(Ok(3), |k| k.parse())?;
            let peer = peer::all(k).into_iter().find(|peer| peer.name == *name).ok_or("no such peer; see --list")?;
            println!("{}", run(peer, data, &read(queries)?, &read(warm_up)?, distinct.parse()?)?);
        }
        _ => return Err("usage: fpstore-peers --list | PEER DATA QUERIES WARM-UP DISTINCT [K]".into()),
    }
    Ok(())
}

fn run(peer: Peer, data: &str, queries: &[u64], warm_up: &[u64], distinct: f64) -> Result<String> {
    let directory = tempfile::tempdir()?;
    let mut asked = measure::Asked::of(queries.len());
    // From here on memory counts as the peer's, including its copy of the data, if it keeps the given one.
    let before = measure::anonymous_bytes()?;
    let values = read(data)?;
    let start = Instant::now();
    let index = (peer.build)(values, directory.path())?;
    let build = start.elapsed().as_secs_f64();
    let built = measure::anonymous_bytes()?;
    asked.ask(&mut *index.searcher()?, queries, warm_up)?;
    // Some peers fill caches during queries.
    let measured = built.max(measure::anonymous_bytes()?).saturating_sub(before);
    let sizes = index.sizes()?;
    let resident = sizes.resident_bytes.unwrap_or(measured);
    let per = |bytes: u64| bytes as f64 / distinct;
    Ok(format!(
        concat!(
            r#"{{"peer":"{}","build_s":{:.3},"resident":{:.4},"file":{:.4},"both":{:.4},"rss_anon":{:.4},"#,
            r#""mean_us":{:.3},"core_us":{:.3},"p50_us":{:.3},"p99_us":{:.3},"matches":{},"hash":"{:016x}"}}"#
        ),
        peer.name,
        build,
        per(resident),
        per(sizes.file_bytes),
        per(resident + sizes.file_bytes),
        per(measured),
        asked.mean_us,
        asked.core_us,
        asked.percentile_us(50),
        asked.percentile_us(99),
        asked.matches,
        asked.hash,
    ))
}

fn read(file: &str) -> Result<Vec<u64>> {
    use std::io::Read;
    let mut file = std::fs::File::open(file)?;
    let count = usize::try_from(file.metadata()?.len() / 8)?;
    // In pieces: a buffer of the whole file beside the values would count as the peer's memory.
    let mut values = Vec::with_capacity(count);
    let mut piece = vec![0; 1 << 16];
    while values.len() < count {
        let bytes = piece.len().min((count - values.len()) * 8);
        file.read_exact(&mut piece[..bytes])?;
        values.extend(piece[..bytes].as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    }
    Ok(values)
}
