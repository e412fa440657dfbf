//! Predicted costs of designs, and recommendations.
//!
//! [`predict`] assumes evenly spread keys. Real fingerprints come in families: a query near a stored one finds many
//! existing prefixes and dense blocks. [`super::Skew`] predicts from the data itself.

use super::filter_shape::{FilterShape, filters_of};
use super::probing::{self, Shape};
use super::{Design, TableForm, TableLayout};
use crate::error::Result;

/// Ratio of a table's size to the information bound, index and checksums included.
pub(super) const TABLE_OVERHEAD: f64 = 1.01;
/// Bytes of memory of the index a block: key and place, search within its chunk, and its share of the chunk.
const INDEX_ENTRY: f64 = 17.2;

/// The size of a store and its queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// Number of distinct fingerprints.
    pub fingerprints: u64,
    /// Width of a fingerprint in bits.
    pub width: u32,
    /// Distance of the queries, which is the store's maximum.
    pub distance: u32,
    /// Bytes of a block.
    pub block_size: u32,
    /// Whether prefix filters are in memory.
    pub filter: bool,
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
    /// Bytes of memory of all tables' filters; 0 without.
    pub filter_bytes: f64,
    /// Whether a query reads the primary table whole, because probing would cost more.
    pub scan: bool,
    /// Prefixes probed; 0 for a scan.
    pub probes: f64,
    /// Blocks read and decoded.
    pub blocks: f64,
    /// Fingerprints decoded and compared.
    pub candidates: f64,
    /// Time in nanoseconds.
    pub nanos: f64,
}

/// The quantity that the planner minimizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Goal {
    /// Bytes on disk, squared, times the time of a query.
    #[default]
    Balanced,
    /// Bytes on disk.
    Space,
    /// Time of a query with everything in memory.
    Latency,
    /// Time of a query on a cold disk: few blocks to read, but also few bytes on disk.
    Disk,
}

impl Goal {
    pub(super) fn score(self, cost: &Cost) -> f64 {
        match self {
            Self::Balanced => cost.disk_bytes * cost.disk_bytes * cost.nanos,
            Self::Space => cost.disk_bytes,
            Self::Latency => cost.nanos,
            // The reads of a query overlap, so one more counts little; a copy of all fingerprints counts too.
            Self::Disk => (1.0 + cost.blocks) * cost.disk_bytes.sqrt(),
        }
    }
}

/// The costs of a design under a workload of evenly spread fingerprints and queries.
///
/// # Errors
/// `InvalidInput` if the design does not fit the width.
pub fn predict(design: Design, workload: &Workload) -> Result<Cost> {
    evenly(design, workload, 1.0)
}

/// The costs on evenly spread keys, but with `bits_ratio` times their bits.
pub(super) fn evenly(design: Design, workload: &Workload, bits_ratio: f64) -> Result<Cost> {
    let probed = probed(design, workload, bits_ratio)?;
    let steps = probed.iter().map(|table| {
        let probing = probing::choose(table.shape(workload.width), table.radius, probing::evenly(table.size.blocks));
        Step {
            planned: probing.nanos,
            probes: probing.probes,
            blocks: probing.blocks,
            candidates: probing.blocks * table.size.block_keys,
            nanos: probing.nanos,
        }
    });
    let steps: Vec<Step> = steps.collect();
    cost(design, workload, bits_ratio, &steps)
}

/// Bits a key of evenly spread ones in a table, index and checksums included.
pub(super) fn even_bits(keys: f64, width: u32) -> f64 {
    // A fingerprint takes at least a bit.
    (f64::from(width) - keys.log2() + std::f64::consts::LOG2_E).max(1.0) * TABLE_OVERHEAD
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TableSize {
    pub(super) keys: f64,
    pub(super) bits: f64,
    pub(super) block_keys: f64,
    pub(super) blocks: f64,
}

impl TableSize {
    /// A table of this form, with `bits_ratio` times the bits of evenly spread keys.
    #[expect(clippy::cast_precision_loss, reason = "a prediction")]
    pub(super) fn of(form: TableForm, workload: &Workload, bits_ratio: f64) -> Self {
        let keys = workload.fingerprints.max(1) as f64;
        let block_bits = f64::from(workload.block_size.max(1)) * 8.0;
        let (bits, block_keys) = match form {
            TableForm::Full => {
                let bits = (even_bits(keys, workload.width) * bits_ratio).max(1.0);
                (bits, block_bits / bits)
            }
            TableForm::Narrow { lead, row } => {
                let bits = even_bits(keys, lead + row);
                (bits, block_bits / bits)
            }
            TableForm::Rows => {
                let rows = (PAGE_BYTES * 8.0 / f64::from(workload.width)).floor();
                (PAGE_BYTES * 8.0 / rows, rows)
            }
        };
        let block_keys = block_keys.min(keys);
        Self { keys, bits, block_keys, blocks: (keys / block_keys).ceil() }
    }
}

const PAGE_BYTES: f64 = 4096.0;

#[derive(Clone, Debug)]
pub(super) struct ProbedTable {
    pub(super) layout: TableLayout,
    pub(super) radius: u32,
    pub(super) filter: Option<FilterShape>,
    pub(super) form: TableForm,
    pub(super) size: TableSize,
    pub(super) distance: u32,
}

impl ProbedTable {
    pub(super) fn shape(&self, width: u32) -> Shape {
        let (blocks, keys) = (self.size.blocks, self.size.keys);
        let leading = self.form.searchable(self.layout.leading);
        Shape { blocks, keys, leading, form: self.form, width, filter: self.filter, distance: self.distance }
    }
}

fn forms(design: Design, workload: &Workload) -> Result<Vec<(TableLayout, TableForm)>> {
    let form = |(number, layout): (usize, TableLayout)| {
        let form = TableForm::new(workload.width, number, layout.leading, workload.fingerprints);
        (layout, form)
    };
    Ok(design.tables(workload.width)?.into_iter().enumerate().map(form).collect())
}

/// The tables of a design that are probed at the workload's distance, their keys as for [`TableSize::of`].
pub(super) fn probed(design: Design, workload: &Workload, bits_ratio: f64) -> Result<Vec<ProbedTable>> {
    let tables = forms(design, workload)?.into_iter().zip(design.radii(workload.distance));
    let tables = tables.filter_map(|((layout, form), radius)| {
        let filter = FilterShape::of_table(form, workload.fingerprints, layout.leading, radius);
        let filter = filter.filter(|_| workload.filter);
        let size = TableSize::of(form, workload, bits_ratio);
        Some(ProbedTable { layout, radius: radius?, filter, form, size, distance: workload.distance })
    });
    Ok(tables.collect())
}

/// The costs of a query in one table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The time by which a store chooses between probing and a scan.
    pub(super) planned: f64,
    pub(super) probes: f64,
    pub(super) blocks: f64,
    pub(super) candidates: f64,
    pub(super) nanos: f64,
}

/// The sum of a design's costs, or the costs of a scan if the store will scan.
#[expect(clippy::cast_precision_loss, reason = "a prediction")]
pub(super) fn cost(design: Design, workload: &Workload, bits_ratio: f64, steps: &[Step]) -> Result<Cost> {
    let filters = filters_of(design, workload.width, workload.fingerprints, workload.distance)?;
    let filter_bytes: u64 = filters.into_iter().filter(|_| workload.filter).map(FilterShape::bytes).sum();
    let sizes: Vec<TableSize> =
        forms(design, workload)?.into_iter().map(|(_, form)| TableSize::of(form, workload, bits_ratio)).collect();
    let (blocks, keys) = sizes.first().map_or((0.0, 0.0), |first| (first.blocks, first.keys));
    let scan_nanos = probing::scan_nanos(workload.width, blocks, keys);
    let scan = steps.iter().map(|step| step.planned).sum::<f64>() >= scan_nanos;
    let sum = |part: fn(&Step) -> f64, whole: f64| if scan { whole } else { steps.iter().map(part).sum() };
    Ok(Cost {
        tables: sizes.len(),
        disk_bytes: sizes.iter().map(|size| size.keys * size.bits / 8.0).sum(),
        resident_bytes: sizes.iter().map(|size| size.blocks * INDEX_ENTRY).sum(),
        filter_bytes: filter_bytes as f64,
        scan,
        probes: sum(|step| step.probes, 0.0),
        blocks: sum(|step| step.blocks, blocks),
        candidates: sum(|step| step.candidates, keys),
        nanos: sum(|step| step.nanos, scan_nanos),
    })
}

/// The listed design with the best score for evenly spread fingerprints.
///
/// # Errors
/// `InvalidInput` if no listed design fits the workload's width.
pub fn recommend(goal: Goal, workload: &Workload) -> Result<Design> {
    let costs = Design::listed(workload.width).into_iter().map(|design| Ok((design, predict(design, workload)?)));
    Ok(best(goal, &costs.collect::<Result<Vec<_>>>()?).unwrap_or(Design::Tables { parts: 2 }))
}

/// The design with the best score, the first of equal ones; `None` of none.
#[must_use]
pub fn best(goal: Goal, costs: &[(Design, Cost)]) -> Option<Design> {
    costs.iter().min_by(|(_, a), (_, b)| goal.score(a).total_cmp(&goal.score(b))).map(|(design, _)| *design)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(fingerprints: u64, distance: u32) -> Workload {
        Workload { fingerprints, width: 64, distance, block_size: 256, filter: true }
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
            assert!(cost(Goal::Disk).blocks <= other.blocks || cost(Goal::Disk).disk_bytes < other.disk_bytes);
        }
    }

    #[test]
    fn more_tables_cost_more_bytes_and_a_greater_distance_more_blocks() {
        let plain = Workload { filter: false, ..workload(20_000_000, 3) };
        let two = predict(Design::Tables { parts: 2 }, &plain).unwrap();
        let four = predict(Design::Tables { parts: 4 }, &plain).unwrap();
        assert!(four.disk_bytes > 1.9 * two.disk_bytes && four.blocks < two.blocks);
        let wider = predict(Design::Tables { parts: 2 }, &Workload { distance: 5, ..plain }).unwrap();
        assert!(wider.blocks > 4.0 * two.blocks);
    }
}
