//! How one segment is searched at one distance.

use crate::plan::masks::masks;
use crate::plan::merging;
use crate::plan::probing::{self, Probing, Shape};
use crate::segment::{Filter, Segment, Table};

/// Which tables of a segment are probed, and how.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SegmentPlan {
    /// Probe these tables.
    Probe(Vec<TableProbe>),
    /// Read the first table whole.
    Scan,
}

/// How one table is probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableProbe {
    /// Number of the table.
    pub(crate) table: usize,
    /// Number of leading key bits that are looked up.
    pub(crate) prefix: u32,
    /// The most flips of a prefix.
    pub(crate) radius: u32,
    /// The masks by which a prefix may differ.
    pub(crate) masks: Vec<u64>,
    /// Whether the table's filter is asked first; its prefixes have the same length then.
    pub(crate) filtered: bool,
}

impl TableProbe {
    /// The filter that is to be asked, if one is.
    #[inline]
    pub(crate) fn filter<'t>(&self, table: &'t Table) -> Option<&'t Filter> {
        if self.filtered { table.filter() } else { None }
    }
}

impl SegmentPlan {
    /// The fastest plan that is complete at distance `k`, with the filters that are there now.
    pub(crate) fn new(segment: &Segment, k: u32) -> Self {
        let Some(choices) = Choices::of(segment, k).probed() else { return Self::Scan };
        // Only now: where a scan is cheaper there may be more masks than memory.
        let probe = |choice: Choice| TableProbe {
            table: choice.table,
            prefix: choice.probing.prefix,
            radius: choice.radius,
            masks: masks(choice.probing.prefix, choice.radius),
            filtered: choice.probing.filtered,
        };
        Self::Probe(choices.into_iter().map(probe).collect())
    }
}

/// Whether a batch of so many queries is answered faster by merging it with the segment's tables than one by one, with
/// the filters that are there now.
#[expect(clippy::cast_precision_loss, reason = "estimates")]
pub(crate) fn merging_pays(segment: &Segment, k: u32, queries: usize) -> bool {
    let Choices { tables, scan } = Choices::of(segment, k);
    let queries = queries as f64;
    let merged = tables.iter().map(|choice| {
        let covered =
            |prefix| segment.tables().get(choice.table).map_or(0.0, |table| table.index().blocks_covered(prefix));
        merging::nanos(choice.shape, choice.radius, queries, covered)
    });
    let probed: f64 = tables.iter().map(|choice| choice.probing.nanos).sum();
    merged.sum::<f64>() < queries * probed.min(scan)
}

/// How each table of a segment is best probed, and what that costs.
struct Choices {
    tables: Vec<Choice>,
    /// Time to read the first table whole instead, in nanoseconds.
    scan: f64,
}

/// How a table is best probed.
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

    /// Those of all tables, unless a scan is cheaper.
    fn probed(self) -> Option<Vec<Choice>> {
        let nanos: f64 = self.tables.iter().map(|choice| choice.probing.nanos).sum();
        (nanos < self.scan).then_some(self.tables)
    }
}
