//! Search: which stored fingerprints lie within distance k of a query?
//!
//! For every segment and distance a [`SegmentPlan`] says which tables are probed with which prefix lengths, or that
//! reading the whole first table is cheaper. [`probe`] finds the blocks that a table's probes touch and decodes each of
//! them; a decoded key is compared by counting differing bits, never by its prefix, so whatever a block holds within
//! k counts. A narrow key whose leading bits are near enough names a row, which is compared whole. What several tables see is reported once by whoever asks. [`scan`] is brute force over the first table:
//! the reference that the index is checked against, and the way to answer where probing would read everything anyway.
//! [`merge`] does for a large batch what probing does one by one.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::query::probe::asked::Asked;
use crate::query::probe::found::Found;
use crate::query::probe::plan::SegmentPlan;
use crate::query::probe::prober::{ProbePart, Prober};
use crate::query::probe::scan::scan_segment;
use crate::query_stats::QueryStats;
use std::cell::Cell;
use std::ops::ControlFlow;

/// Calls `visit` with the number of a query and each fingerprint of a segment within the distance, perhaps several
/// times, until it breaks. Of a plan that probes only that part is carried out; a scan belongs to the last part.
///
/// # Errors
/// `Damaged` or `Io` from reading blocks.
pub(crate) fn search_segment<F: Fingerprint, B>(
    prober: &mut Prober,
    asked: Asked<'_, F>,
    plan: &SegmentPlan,
    part: ProbePart,
    work: &mut QueryStats,
    mut visit: impl FnMut(usize, Found<F>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    let SegmentPlan::Probe(probes) = plan else {
        let queries = if part == ProbePart::Home { &[] } else { asked.queries };
        for (number, &query) in queries.iter().enumerate() {
            let k = Cell::new(asked.k);
            let found = scan_segment(asked.segment, query, &k, &mut prober.scratch, work, |one| visit(number, one))?;
            if found.is_break() {
                return Ok(found);
            }
        }
        return Ok(ControlFlow::Continue(()));
    };
    prober.probe(asked, probes, part, work, &mut visit)
}
