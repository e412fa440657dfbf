//! Brute force: every fingerprint of a segment is compared.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::query::probe::found::Found;
use crate::query::probe::visit::visit_fingerprints;
use crate::query_stats::QueryStats;
use crate::segment::{Scratch, Segment};
use std::cell::Cell;
use std::ops::ControlFlow;

/// Calls `visit` for every fingerprint of a segment within distance `k`, once, in ascending order, until it breaks. `visit`
/// may lower `k`; some that are farther may still come then.
pub(crate) fn scan_segment<F: Fingerprint, B>(
    segment: &Segment,
    query: F,
    k: &Cell<u32>,
    scratch: &mut Scratch,
    work: &mut QueryStats,
    mut visit: impl FnMut(Found<F>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    let table = segment.first_table()?;
    work.scans += 1;
    for block in 0..table.index().len() {
        table.prefetch_ahead(block);
        let found = visit_fingerprints(table, block, query, k.get(), scratch, work, &mut visit)?;
        if found.is_break() {
            return Ok(found);
        }
    }
    Ok(ControlFlow::Continue(()))
}
