//! How one segment is searched at one distance.

use crate::plan::masks::masks;
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
    pub(super) fn filter<'t>(&self, table: &'t Table) -> Option<&'t Filter> {
        if self.filtered { table.filter() } else { None }
    }
}

impl SegmentPlan {
    /// The fastest plan that is complete at distance `k`, with the filters that are there now.
    #[expect(clippy::cast_precision_loss, reason = "estimates")]
    pub(crate) fn new(segment: &Segment, k: u32) -> Self {
        let radii = segment.footer().parameters.design().radii(k);
        let width = segment.footer().parameters.width();
        let mut probes = Vec::new();
        let mut nanos = 0.0;
        for (number, (table, radius)) in segment.tables().iter().zip(radii).enumerate() {
            let Some(radius) = radius else { continue };
            let shape = Shape {
                blocks: table.index().len() as f64,
                keys: table.index().fingerprints() as f64,
                leading: table.leading(),
                form: table.form(),
                width,
                filter: table.filter().map(Filter::shape),
            };
            let probing = probing::choose(shape, radius, |prefix| table.index().blocks_covered(prefix));
            nanos += probing.nanos;
            probes.push((number, probing, radius));
        }
        let whole = segment
            .tables()
            .first()
            .map(Table::index)
            .map_or(0.0, |index| probing::scan_nanos(width, index.len() as f64, index.fingerprints() as f64));
        if nanos >= whole {
            return Self::Scan;
        }
        // Only now: where a scan is cheaper there may be more masks than memory.
        let probe = |(table, probing, radius): (usize, Probing, u32)| TableProbe {
            table,
            prefix: probing.prefix,
            radius,
            masks: masks(probing.prefix, radius),
            filtered: probing.filtered,
        };
        Self::Probe(probes.into_iter().map(probe).collect())
    }
}
