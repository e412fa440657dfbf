//! The raw view of a store's files that `fpdump` shows. It only reads; using a store does not need it.
//!
//! * [`SegmentView`] is one segment file: sections, blocks, keys, records ([`open`], [`open_all`]).
//! * [`LogView`] is one write-ahead log, batch by batch ([`logs`]), and [`ManifestView`] the manifest ([`manifest()`]).
//! * [`explain()`] visits every byte of a file as a named field. It runs the parsers of `format` with a trace.
//! * [`distributions()`] counts how blocks, codes and neighbours are distributed over the primary tables.
//! * [`what_if()`] encodes the fingerprints again, in memory, under other parameters, and measures the sizes.
//!
//! All but `what_if` run on the caller's thread; `what_if` uses the store's executor. No function takes a lock, so a
//! writer may remove files meanwhile. Names are those of format-spec/.

mod distributions;
mod explain;
mod logs;
pub(crate) mod manifest;
mod segment_view;
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

/// Opens the segments of a store that have records, oldest first, or a single segment file.
///
/// # Errors
/// `NotFound`, `Damaged`, `Unsupported`, `Io`.
pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Vec<SegmentView>> {
    let path = path.as_ref();
    if options.env.list(path).is_ok() {
        let all = open_all(path, options)?.into_iter();
        return Ok(all.filter(|(role, _)| *role == SegmentRole::Records).map(|(_, segment)| segment).collect());
    }
    let segment = Arc::new(Segment::open(&*options.env, path, options.read_mode)?);
    Ok(vec![SegmentView { segment, executor: Arc::clone(&options.executor) }])
}

/// Opens all segments of a store with their roles, oldest run first.
///
/// # Errors
/// Those of [`open`].
pub fn open_all(store: impl AsRef<Path>, options: &Options) -> Result<Vec<(SegmentRole, SegmentView)>> {
    let runs = open_runs(store.as_ref(), &options.clone().with_filters(Filters::Off), &[])?.1;
    let segments = runs.iter().flat_map(|run| {
        let roles = SegmentRole::each([&run.tombstones, &run.records, &run.id_index, &run.keys]);
        let executor = || Arc::clone(&options.executor);
        roles.map(|(role, segment)| Some((role, SegmentView { segment: segment.clone()?, executor: executor() })))
    });
    Ok(segments.flatten().collect())
}
