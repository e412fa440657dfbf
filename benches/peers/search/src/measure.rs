//! Memory, time and answers of one peer.

use crate::peer::{Result, Searcher};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Anonymous memory of this process, after the allocator has returned free memory.
pub(crate) fn anonymous_bytes() -> Result<u64> {
    unsafe extern "C" {
        safe fn malloc_trim(pad: usize) -> i32;
    }
    malloc_trim(0);
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("RssAnon:")).ok_or("no RssAnon in /proc/self/status")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// Processor time of the threads of this process: on a shared machine, less than the elapsed time.
fn core_seconds() -> Result<f64> {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    const PROCESS_CPUTIME: i32 = 2;
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    // SAFETY: on 64-bit Linux, which /proc/self/status above asks for, a timespec is two 64-bit numbers.
    match unsafe { clock_gettime(PROCESS_CPUTIME, &mut time) } {
        0 => Ok(time.seconds as f64 + time.nanoseconds as f64 / 1e9),
        _ => Err(std::io::Error::last_os_error().into()),
    }
}

/// Results of the queries to a peer.
pub(crate) struct Asked {
    /// Of all queries under one clock.
    pub(crate) mean_us: f64,
    /// Processor time of the same queries.
    pub(crate) core_us: f64,
    /// Each query under its own clock, ascending.
    times: Vec<Duration>,
    /// Distinct pairs of a query and a matching fingerprint, independent of the number of records.
    pub(crate) matches: u64,
    /// Sum of a hash of each such pair: independent of the order, so that all peers are comparable. The orchestrator
    /// and `../faiss_peer.py` compute it too.
    pub(crate) hash: u64,
}

impl Asked {
    /// Memory for `queries` queries, touched now so that it does not count as the peer's.
    pub(crate) fn of(queries: usize) -> Self {
        Self { mean_us: 0.0, core_us: 0.0, times: vec![Duration::MAX; queries], matches: 0, hash: 0 }
    }

    /// Runs the warm-up queries first, then all queries under one clock, then each under its own.
    pub(crate) fn ask(&mut self, searcher: &mut dyn Searcher, queries: &[u64], warm_up: &[u64]) -> Result<()> {
        let mut found = Vec::with_capacity(1024);
        let mut all = |queries: &[u64]| {
            let start = Instant::now();
            for &query in queries {
                found.clear();
                searcher.query(query, &mut found)?;
                black_box(&found);
            }
            Result::Ok(start.elapsed())
        };
        all(warm_up)?;
        let before = core_seconds()?;
        self.mean_us = all(queries)?.as_secs_f64() * 1e6 / queries.len() as f64;
        self.core_us = (core_seconds()? - before) * 1e6 / queries.len() as f64;
        for (&query, time) in queries.iter().zip(&mut self.times) {
            let start = Instant::now();
            found.clear();
            searcher.query(query, &mut found)?;
            *time = start.elapsed();
            found.sort_unstable();
            found.dedup();
            self.matches += found.len() as u64;
            let pairs = found.iter().map(|&found| mix(mix(query).wrapping_add(found)));
            self.hash = pairs.fold(self.hash, u64::wrapping_add);
        }
        self.times.sort_unstable();
        Ok(())
    }

    pub(crate) fn percentile_us(&self, percent: usize) -> f64 {
        self.times[self.times.len() * percent / 100].as_secs_f64() * 1e6
    }
}

/// The last step of splitmix64.
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
