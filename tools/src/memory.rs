//! Default memory limits.

use std::fs;

/// Memory of the program itself, code and small allocations, beside its sort buffers.
const OWN: u64 = 24 << 20;

/// Returns the memory for the buffers of a load: the requested memory less `OWN`, or half of the machine's memory.
#[must_use]
pub fn of_load(asked: Option<u64>) -> u64 {
    asked.map_or_else(|| total().map_or(u64::MAX, |total| total / 2), |bytes| bytes.saturating_sub(OWN))
}

/// Returns the memory of the machine, if the system reports it.
fn total() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
