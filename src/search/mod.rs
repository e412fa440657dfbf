//! Search: which stored fingerprints lie within distance k of a query?
//!
//! For every segment and distance a [`SegmentPlan`] says which tables are probed with which prefix lengths, or that
//! reading the whole first table is cheaper. [`probe`] finds the blocks that a table's probes touch and decodes each of
//! them once; a decoded key is compared by counting differing bits, never by its prefix, so whatever a block holds within
//! k counts. What several tables see is reported once. [`scan`] is brute force over the first table: the reference that
//! the index is checked against, and the way to answer where probing would read everything anyway.

mod probe;
mod scan;
mod segment_plan;
mod work;

pub(crate) use probe::search_segment;
pub(crate) use scan::scan_segment;
pub(crate) use segment_plan::SegmentPlan;
pub use work::Work;

/// A stored fingerprint within the distance that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    /// The stored fingerprint.
    pub(crate) fingerprint: u64,
    /// Its rank in the first table, where that table has found it.
    pub(crate) rank: Option<u64>,
}
