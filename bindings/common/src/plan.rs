//! The design of a new store by its name.

use fpstore::plan::{Goal, Workload, recommend};
use fpstore::{Design, Result};

/// Records for which a new store is planned, as `fpload` plans an empty one.
const PLANNED_RECORDS: u64 = 100_000_000;

/// The design of a name as `fpload --plan` takes it: `auto`, `auto:space`, `auto:latency`, `auto:disk`, or that of a
/// design.
///
/// # Errors
/// `InvalidInput` if there is no design of this name, or none that fits the width.
pub fn design(name: &str, width: u32, max_distance: u32, block_size: u32) -> Result<Design> {
    let goal = match name {
        "auto" => Goal::Balanced,
        "auto:space" => Goal::Space,
        "auto:latency" => Goal::Latency,
        "auto:disk" => Goal::Disk,
        name => return name.parse(),
    };
    let distance = max_distance;
    recommend(goal, &Workload { fingerprints: PLANNED_RECORDS, width, distance, block_size, filter: true })
}
