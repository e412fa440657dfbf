//! What a design costs, predicted, and which one to take.
//!
//! The prediction assumes evenly spread keys and rests on the constants below, measured on one core (BENCHMARKS.md).

use super::Design;
use super::probing;
use crate::error::Result;

/// Share by which a table exceeds the information bound, index and checksums included.
const TABLE_OVERHEAD: f64 = 1.01;
/// Memory of the index for one block, in bytes: key, count, length, offset, and its share of its page's rank.
const INDEX_ENTRY: f64 = 15.0;
/// Time to decode one key, in nanoseconds.
const DECODE_NANOS: f64 = 3.0;
/// Time to find a place in the index and to begin a block, in nanoseconds.
const PLACE_NANOS: f64 = 60.0;
const BLOCK_NANOS: f64 = 60.0;

/// What a store is to hold and to answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// Number of distinct fingerprints.
    pub fingerprints: u64,
    /// Width of a fingerprint in bits.
    pub width: u32,
    /// Distance of the queries.
    pub distance: u32,
    /// Bytes of a block.
    pub block_size: u32,
}

/// Predicted costs of a design. Times are of one query on one core with everything in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// Number of tables.
    pub tables: usize,
    /// Bytes on disk of all tables, without ids.
    pub disk_bytes: f64,
    /// Bytes of memory of all tables' indexes.
    pub resident_bytes: f64,
    /// Places looked up.
    pub probes: f64,
    /// Blocks read and decoded.
    pub blocks: f64,
    /// Fingerprints decoded and compared.
    pub candidates: f64,
    /// Time in nanoseconds.
    pub nanos: f64,
}

/// What the planner is to make small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Goal {
    /// A fast query at few bytes; a byte counts more than a nanosecond.
    #[default]
    Balanced,
    /// Bytes on disk.
    Space,
    /// Time of a query with everything in memory.
    Latency,
    /// Blocks read from a cold disk.
    Disk,
}

/// The costs of a design under a workload.
///
/// # Errors
/// `InvalidInput` if the design does not fit the width.
pub fn predict(design: Design, workload: &Workload) -> Result<Cost> {
    let layouts = design.tables(workload.width)?;
    #[expect(clippy::cast_precision_loss, reason = "a prediction")]
    let n = workload.fingerprints.max(1) as f64;
    // Fingerprints take at least a bit each, however crowded their space is.
    let bits = (f64::from(workload.width) - n.log2() + std::f64::consts::LOG2_E).max(1.0) * TABLE_OVERHEAD;
    let block_keys = f64::from(workload.block_size.max(1)) * 8.0 / bits;
    let table_blocks = (n / block_keys).ceil();
    let tables = layouts.len();
    #[expect(clippy::cast_precision_loss, reason = "at most 256")]
    let count = tables as f64;
    let (mut probes, mut blocks) = (0.0, 0.0);
    for (layout, radius) in layouts.iter().zip(design.radii(workload.distance)) {
        let Some(radius) = radius else { continue };
        let probing = probing::choose(table_blocks, layout.leading, radius, probing::evenly(table_blocks));
        probes += probing.probes;
        blocks += probing.blocks;
    }
    // More blocks than a table has: then one table is scanned.
    if blocks > table_blocks {
        (probes, blocks) = (1.0, table_blocks);
    }
    let candidates = blocks * block_keys.min(n);
    Ok(Cost {
        tables,
        disk_bytes: count * n * bits / 8.0,
        resident_bytes: count * table_blocks * INDEX_ENTRY,
        probes,
        blocks,
        candidates,
        nanos: probes * PLACE_NANOS + blocks * BLOCK_NANOS + candidates * DECODE_NANOS,
    })
}

/// The listed design that serves the goal best.
///
/// # Errors
/// `InvalidInput` if no listed design fits the workload's width.
pub fn recommend(goal: Goal, workload: &Workload) -> Result<Design> {
    let score = |cost: &Cost| match goal {
        Goal::Balanced => cost.disk_bytes * cost.disk_bytes * cost.nanos,
        Goal::Space => cost.disk_bytes,
        Goal::Latency => cost.nanos,
        Goal::Disk => cost.blocks,
    };
    let mut best: Option<(f64, Design)> = None;
    for design in Design::LISTED {
        let score = score(&predict(design, workload)?);
        if best.is_none_or(|(least, _)| score < least) {
            best = Some((score, design));
        }
    }
    Ok(best.map_or(Design::Tables { parts: 2 }, |(_, design)| design))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(fingerprints: u64, distance: u32) -> Workload {
        Workload { fingerprints, width: 64, distance, block_size: 512 }
    }

    #[test]
    fn two_tables_at_the_usual_size_and_distance() {
        for n in [20_000_000, 100_000_000, 1_000_000_000] {
            let design = recommend(Goal::Balanced, &workload(n, 3)).unwrap();
            assert_eq!(design, Design::Tables { parts: 2 }, "{n}");
        }
    }

    #[test]
    fn goals_are_served() {
        let workload = workload(100_000_000, 3);
        let cost = |goal| predict(recommend(goal, &workload).unwrap(), &workload).unwrap();
        assert_eq!(cost(Goal::Space).tables, 1);
        for design in Design::LISTED {
            let other = predict(design, &workload).unwrap();
            assert!(cost(Goal::Latency).nanos <= other.nanos);
            assert!(cost(Goal::Disk).blocks <= other.blocks);
        }
    }

    #[test]
    fn more_tables_cost_more_bytes_and_a_greater_distance_more_blocks() {
        let two = predict(Design::Tables { parts: 2 }, &workload(20_000_000, 3)).unwrap();
        let four = predict(Design::Tables { parts: 4 }, &workload(20_000_000, 3)).unwrap();
        assert!(four.disk_bytes > 1.9 * two.disk_bytes && four.blocks < two.blocks);
        let wider = predict(Design::Tables { parts: 2 }, &workload(20_000_000, 5)).unwrap();
        assert!(wider.blocks > 4.0 * two.blocks);
    }
}
