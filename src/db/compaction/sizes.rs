//! The sizes that decide what is compacted.

use crate::db::compaction::picker::RunSize;
use crate::db::run_builder::bytes_of;
use crate::segment::Segment;
use crate::version::Run;
use std::sync::Arc;

/// What decides about merging runs.
pub(crate) fn sizes(runs: &[Arc<Run>]) -> Vec<RunSize> {
    let records = |segment: Option<&Arc<Segment>>| segment.map_or(0, |segment| segment.footer().records);
    let size = |run: &Arc<Run>| {
        let (bytes, own) = (bytes_of(&run.entry), records(run.records.as_ref()));
        // What merging gets rid of in older runs: what is hidden there, and what stands there too.
        let known = run.entry.net.and_then(|net| u64::try_from(i128::from(own) - i128::from(net)).ok());
        RunSize { bytes, records: own, tombstones: known.unwrap_or_else(|| records(run.tombstones.as_ref())) }
    };
    runs.iter().map(size).collect()
}
