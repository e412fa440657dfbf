//! Power failures of a real process on the real file system, recorded from outside the library.
//!
//! A process writes to a store. A recorder (recorder.c), preloaded into it, logs every change below one directory with
//! its bytes, and every sync. The test then builds the trees that a power failure at each operation may leave, by the
//! rules of format-spec/store.md, and checks each with the library. Some of them become the start of another recorded
//! process. A recording is complete: a full replay gives the tree of the process, byte for byte.
//!
//! A short run takes other states every day and prints its seed: `FPSTORE_SEED=S` repeats it.
//! `cargo xtask crash --states N --seed S` runs longer (`FPSTORE_STATES`, `FPSTORE_SEED`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stderr)]
#![allow(missing_docs)]

#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
mod file;
#[cfg(target_os = "linux")]
mod image;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod media;
#[cfg(target_os = "linux")]
#[path = "../it/live/model.rs"]
#[allow(dead_code, reason = "shared with the other integration tests")]
mod model;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
#[path = "../it/points.rs"]
#[allow(dead_code, reason = "shared with the other integration tests")]
mod points;
#[cfg(target_os = "linux")]
mod recording;
#[cfg(target_os = "linux")]
mod states;
#[cfg(target_os = "linux")]
#[path = "../it/support.rs"]
#[allow(dead_code, unused_macros, unused_imports, reason = "shared with the other integration tests")]
mod support;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod workload;

#[cfg(not(target_os = "linux"))]
#[test]
fn every_recorded_power_failure_keeps_what_was_promised() {
    eprintln!("SKIPPED: the recorder of system calls needs Linux");
}
