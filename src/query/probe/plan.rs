//! The plan for searching one segment at one distance.

use crate::plan::batch_join;
use crate::plan::masks::masks;
use crate::plan::probing::{self, Probing, Shape};
use crate::segment::{Filter, Segment, Table};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SegmentPlan {
    Probe(Vec<TableProbe>),
    /// Read the whole primary table.
    Scan,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableProbe {
    pub(crate) table: usize,
    /// Length of the prefixes in bits.
    pub(crate) prefix: u32,
    /// Maximum number of flipped bits.
    pub(crate) radius: u32,
    /// All masks of up to this many of the flipped leading bits.
    pub(crate) masks: Vec<u64>,
    /// Whether the table's filter, whose prefixes have the same length, is asked first.
    pub(crate) filtered: bool,
}

impl TableProbe {
    #[inline]
    pub(crate) fn filter<'t>(&self, table: &'t Table) -> Option<&'t Filter> {
        if self.filtered { table.filter() } else { None }
    }
}

impl SegmentPlan {
    /// The fastest plan that is complete at distance `k`, with the present filters.
    pub(crate) fn new(segment: &Segment, k: u32) -> Self {
        let Choices { tables, scan } = Choices::of(segment, k);
        if tables.iter().map(|choice| choice.probing.nanos).sum::<f64>() >= scan {
            return Self::Scan;
        }
        // Not before the check: where a scan is cheaper, the masks may exceed the memory.
        let probe = |choice: Choice| TableProbe {
            table: choice.table,
            prefix: choice.probing.prefix,
            radius: choice.radius,
            masks: masks(choice.probing.flipped, choice.radius),
            filtered: choice.probing.filtered,
        };
        Self::Probe(tables.into_iter().map(probe).collect())
    }
}

/// Whether merging a batch of this many queries with the segment's tables is faster than probing, with the present
/// filters.
#[expect(clippy::cast_precision_loss, reason = "estimates")]
pub(crate) fn merge_join_pays(segment: &Segment, k: u32, queries: usize) -> bool {
    let Choices { tables, scan } = Choices::of(segment, k);
    let queries = queries as f64;
    let merged = tables.iter().map(|choice| {
        let covered =
            |prefix| segment.tables().get(choice.table).map_or(0.0, |table| table.index().blocks_covered(prefix));
        batch_join::nanos(choice.shape, choice.radius, queries, covered)
    });
    let probed: f64 = tables.iter().map(|choice| choice.probing.nanos).sum();
    merged.sum::<f64>() < queries * probed.min(scan)
}

/// The best way to probe each table of a segment, and its cost.
struct Choices {
    tables: Vec<Choice>,
    /// Time to read the whole primary table instead, in nanoseconds.
    scan: f64,
}

struct Choice {
    table: usize,
    radius: u32,
    shape: Shape,
    probing: Probing,
}

impl Choices {
    #[expect(clippy::cast_precision_loss, reason = "estimates")]
    fn of(segment: &Segment, k: u32) -> Self {
        let radii = segment.footer().parameters.design().radii(k);
        let width = segment.footer().parameters.width();
        let choice = |(table, (of, radius)): (usize, (&Table, Option<u32>))| {
            let radius = radius?;
            let shape = Shape {
                blocks: of.index().len() as f64,
                keys: of.index().fingerprints() as f64,
                leading: of.leading(),
                form: of.form(),
                width,
                filter: of.filter().map(Filter::shape),
                distance: k,
            };
            let probing = probing::choose(shape, radius, |prefix| of.index().blocks_covered(prefix));
            Some(Choice { table, radius, shape, probing })
        };
        let tables = segment.tables().iter().zip(radii).enumerate().filter_map(choice).collect();
        let scan = segment
            .tables()
            .first()
            .map(Table::index)
            .map_or(0.0, |index| probing::scan_nanos(width, index.len() as f64, index.fingerprints() as f64));
        Self { tables, scan }
    }
}
