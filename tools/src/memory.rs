//! How much memory a program takes where it is not told.

use std::fs;

/// Memory that the program itself takes, code and small things, beside what it is told to sort in.
const OWN: u64 = 24 << 20;

/// Memory for the buffers of a load: what was asked for, less what the program takes anyway; or half of what the machine
/// has.
#[must_use]
pub fn of_load(asked: Option<u64>) -> u64 {
    asked.map_or_else(|| total().map_or(u64::MAX, |total| total / 2), |bytes| bytes.saturating_sub(OWN))
}

/// Memory of the machine, where the system tells.
fn total() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
