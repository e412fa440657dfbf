//! How many points of a sweep a run takes: all of them if `FPSTORE_LONG` is set, as `cargo xtask test --long` does, one
//! of eleven otherwise.
//!
//! A short run begins at another point every day. A test prints the day it used, and libtest shows that if the test
//! fails: `FPSTORE_DAY=N` repeats it.

use std::env;
use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

/// A short run takes one of this many points. A prime, so that the points differ in every cycle of a sweep.
pub(crate) const SHARE: u64 = 11;

/// Whether all points are tried.
pub(crate) fn is_long() -> bool {
    env::var_os("FPSTORE_LONG").is_some_and(|value| !value.is_empty() && value != "0")
}

/// The number of today, or of the day that `FPSTORE_DAY` names.
pub(crate) fn today() -> u64 {
    let today = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    env::var("FPSTORE_DAY").map_or_else(|_| today(), |value| value.parse().unwrap())
}

/// The number of the day, which decides on the points of a short run.
#[expect(clippy::print_stdout, reason = "shown for tests that fail")]
pub(crate) fn day() -> u64 {
    let day = today();
    println!("a part of the points; FPSTORE_DAY={day} takes the same ones, FPSTORE_LONG=1 takes all");
    day
}

/// Returns the points of this run: all of them, or every eleventh.
///
/// An endless iterator stays endless, so a sweep that ends after the last point still reaches its end.
pub(crate) fn points<P>(all: impl IntoIterator<Item = P>) -> impl Iterator<Item = P> {
    every(SHARE, all)
}

/// The same with one of `share` points in a short run. A sweep whose points are few takes more of them.
pub(crate) fn every<P>(share: u64, all: impl IntoIterator<Item = P>) -> impl Iterator<Item = P> {
    let (first, step) = if is_long() || share == 1 { (0, 1) } else { part(share, day()) };
    all.into_iter().skip(first).step_by(step)
}

/// Returns the first point of a day, and the step to the next one.
fn part(share: u64, day: u64) -> (usize, usize) {
    ((day % share) as usize, share as usize)
}

/// Returns how many of `full` things this run takes, such as random sequences: all, or one of eleven.
pub(crate) fn number(full: u64) -> u64 {
    if is_long() { full } else { full.div_ceil(SHARE) }
}

/// Returns the first of the numbers or seeds that a run takes where a full run takes those from 0 to `full`.
pub(crate) fn first(full: u64) -> u64 {
    if is_long() { 0 } else { day() % SHARE * (full / SHARE) }
}

/// Returns the seeds of this run of those from 0 to `full`: all, or one part of `share`.
pub(crate) fn seeds(share: u64, full: u64) -> Range<u64> {
    if is_long() { 0..full } else { part_of_seeds(share, full, day()) }
}

fn part_of_seeds(share: u64, full: u64, day: u64) -> Range<u64> {
    let first = day % share * (full / share);
    first..first + full.div_ceil(share)
}

#[test]
fn eleven_days_take_every_point_once() {
    let taken = |day| {
        let (first, step) = part(SHARE, day);
        (0..95).skip(first).step_by(step)
    };
    let mut all: Vec<i32> = (20_000..20_000 + SHARE).flat_map(taken).collect();
    all.sort_unstable();
    assert_eq!(all, (0..95).collect::<Vec<_>>());
}

#[test]
fn a_run_takes_a_part_or_all() {
    let taken = points(0..1100).count();
    assert_eq!(taken, if is_long() { 1100 } else { 100 });
    assert_eq!(number(2400), if is_long() { 2400 } else { 219 });
    assert!(first(2400) + number(2400) < 2402);
    assert_eq!([0, 1, 2, 3].map(|day| part_of_seeds(3, 6, day)), [0..2, 2..4, 4..6, 0..2]);
    assert_eq!([0, 1].map(|day| part_of_seeds(3, 1, day)), [0..1, 0..1]);
}
