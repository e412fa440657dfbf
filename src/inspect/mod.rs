//! The raw view of a store's files that `fpdump` shows: sections, blocks, keys, and every byte explained; how what is
//! in them is distributed, and what it would weigh under other parameters.
//!
//! Nothing here changes anything, and nothing here is needed to use a store. Words are those of format-spec/.

mod distributions;
mod explain;
mod explain_ids;
mod explain_log;
mod logs;
pub(crate) mod manifest;
mod segment_view;
mod traced;
mod what_if;

pub use crate::codec::BlockKind;
pub use crate::format::Field;
pub use crate::version::SegmentRole;
pub use distributions::{Distributions, distributions};
pub use explain::explain;
pub use logs::{FrameView, LogView, is_log, logs};
pub use manifest::{ManifestView, RunView, SegmentFact, manifest};
pub use what_if::{Alternative, QueryCost, what_if};

use crate::error::Result;
use crate::options::{Filters, Options};
use crate::segment::Segment;
use crate::version::open_runs;
pub use segment_view::{BlockView, Section, SegmentView};
use std::path::Path;
use std::sync::Arc;

/// Opens those segments of a store that hold records, oldest first, or a single segment file.
///
/// # Errors
/// `NotFound`, `Damaged`, `Unsupported`, `Io`.
pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Vec<SegmentView>> {
    let path = path.as_ref();
    if options.env.list(path).is_ok() {
        let runs = open_runs(path, &options.clone().with_filters(Filters::Off), &[])?.1;
        let segments = runs.iter().filter_map(|run| run.records.clone());
        return Ok(segments.map(|segment| SegmentView { segment, executor: Arc::clone(&options.executor) }).collect());
    }
    let segment = Arc::new(Segment::open(&*options.env, path, options.read_mode)?);
    Ok(vec![SegmentView { segment, executor: Arc::clone(&options.executor) }])
}

/// Opens all segments of a store, oldest run first, with what each is for.
///
/// # Errors
/// Those of [`open`].
pub fn open_all(store: impl AsRef<Path>, options: &Options) -> Result<Vec<(SegmentRole, SegmentView)>> {
    let runs = open_runs(store.as_ref(), &options.clone().with_filters(Filters::Off), &[])?.1;
    let segments = runs.iter().flat_map(|run| {
        let roles = [
            (SegmentRole::Tombstones, &run.tombstones),
            (SegmentRole::Records, &run.records),
            (SegmentRole::IdIndex, &run.id_index),
        ];
        let executor = || Arc::clone(&options.executor);
        roles.map(|(role, segment)| Some((role, SegmentView { segment: segment.clone()?, executor: executor() })))
    });
    Ok(segments.flatten().collect())
}
