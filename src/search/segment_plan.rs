//! How one segment is searched at one distance.

use crate::plan::probing;
use crate::segment::Segment;

/// Which tables of a segment are probed, and how.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SegmentPlan {
    /// Probe these tables.
    Probe(Vec<TableProbe>),
    /// Read the first table whole.
    Scan,
}

/// How one table is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableProbe {
    /// Number of the table.
    pub(crate) table: usize,
    /// Number of leading key bits that are looked up.
    pub(crate) prefix: u32,
    /// Number of them that may differ.
    pub(crate) radius: u32,
}

impl SegmentPlan {
    /// The plan with the fewest blocks that is complete at distance `k`.
    pub(crate) fn new(segment: &Segment, k: u32) -> Self {
        let radii = segment.footer().parameters.design().radii(k);
        let mut probes = Vec::new();
        let mut blocks = 0.0;
        for (number, (table, radius)) in segment.tables().iter().zip(radii).enumerate() {
            let Some(radius) = radius else { continue };
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let probing = probing::choose(table.index().len() as f64, table.layout().leading, radius, |prefix| {
                table.index().blocks_covered(prefix)
            });
            blocks += probing.blocks;
            probes.push(TableProbe { table: number, prefix: probing.prefix, radius });
        }
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let whole = segment.tables().first().map_or(0.0, |table| table.index().len() as f64);
        if blocks >= whole { Self::Scan } else { Self::Probe(probes) }
    }
}
