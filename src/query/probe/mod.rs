//! Searching one segment for one query.
//!
//! [`plan::SegmentPlan`] says which tables are probed with which prefix lengths at a distance, or that reading the
//! whole primary table is cheaper. [`search::search_segment`] carries a plan out, with the [`prober::Prober`] or with
//! [`search::scan_segment`]; both compare decoded keys in `compare.rs`. A key is compared by counting differing bits,
//! never by its prefix, so every key of a decoded block within the distance counts. A narrow key whose leading bits are
//! near names a row, which is compared whole. Several tables may report the same fingerprint; the caller merges them.

pub(crate) mod compare;
pub(crate) mod plan;
pub(crate) mod prober;
pub(crate) mod search;
