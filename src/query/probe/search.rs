//! Carrying out the plan of a segment.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::query::probe::compare::{Found, visit_fingerprints};
use crate::query::probe::plan::SegmentPlan;
use crate::query::probe::prober::{ProbePart, Prober};
use crate::query_stats::QueryStats;
use crate::segment::{Scratch, Segment};
use std::cell::Cell;
use std::ops::ControlFlow;

/// Calls `visit` with each fingerprint of a segment within distance `k`, once or several times, until it breaks.
/// Carries out only `part` of a plan that probes; a scan belongs to the last part.
pub(crate) fn search_segment<F: Fingerprint, B>(
    prober: &mut Prober,
    segment: &Segment,
    (query, k): (F, u32),
    plan: &SegmentPlan,
    part: ProbePart,
    stats: &mut QueryStats,
    mut visit: impl FnMut(Found<F>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    match plan {
        SegmentPlan::Probe(probes) => prober.probe(segment, (query, k), probes, part, stats, &mut visit),
        SegmentPlan::Scan if part == ProbePart::Home => Ok(ControlFlow::Continue(())),
        SegmentPlan::Scan => scan_segment(segment, query, &Cell::new(k), &mut prober.scratch, stats, visit),
    }
}

/// Calls `visit` with each fingerprint of a segment within distance `k`, once and in ascending order, until it breaks.
/// `visit` may lower `k`; some farther fingerprints may still come then.
pub(crate) fn scan_segment<F: Fingerprint, B>(
    segment: &Segment,
    query: F,
    k: &Cell<u32>,
    scratch: &mut Scratch,
    stats: &mut QueryStats,
    mut visit: impl FnMut(Found<F>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    let table = segment.primary_table()?;
    stats.scans += 1;
    for block in 0..table.index().len() {
        table.prefetch_ahead(block);
        let found = visit_fingerprints(table, block, query, k.get(), scratch, stats, &mut visit)?;
        if found.is_break() {
            return Ok(found);
        }
    }
    Ok(ControlFlow::Continue(()))
}
