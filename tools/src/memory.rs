//! Default memory limits.

use std::fs;

/// Memory of the program itself, code and small allocations, beside its sort buffers.
const OWN: u64 = 24 << 20;

/// Memory of a load if the machine's is unknown, because there is no `/proc/meminfo`.
const FALLBACK: u64 = 1 << 30;

/// Returns the memory for the buffers of a load: the requested memory less `OWN`, or half of the machine's memory
/// (1 GiB where that is unknown).
#[must_use]
pub fn of_load(asked: Option<u64>) -> u64 {
    asked.map_or_else(
        || by_default(fs::read_to_string("/proc/meminfo").ok().as_deref()),
        |bytes| bytes.saturating_sub(OWN),
    )
}

/// Returns half of the memory in this `/proc/meminfo`.
fn by_default(meminfo: Option<&str>) -> u64 {
    meminfo.and_then(total).map_or(FALLBACK, |total| total / 2)
}

/// Returns the memory of the machine.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_machine_or_a_gibibyte() {
        assert_eq!(by_default(Some("MemTotal:       24684084 kB\nMemFree:         4325200 kB\n")), 24_684_084 * 512);
        for unknown in [None, Some(""), Some("MemFree: 1 kB"), Some("MemTotal: much"), Some("MemTotal: -1 kB")] {
            assert_eq!(by_default(unknown), 1 << 30, "{unknown:?}");
        }
        assert_eq!(of_load(Some(OWN + 5)), 5);
        assert_eq!(of_load(Some(5)), 0);
    }
}
