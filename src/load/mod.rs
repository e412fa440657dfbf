//! Records in bulk: loading, removing and replacing many, and creating a store with its records.
//!
//! A [`RecordSorter`] takes records one by one and returns [`SortedRecords`] (`records.rs`); [`Records`] in memory
//! become the same by [`IntoSorted`]. `bulk_load.rs` reserves numbers for records without ids, drops the records that
//! the store has (`version::MembershipCursor`), and makes one segment of the others chunk by chunk (`segment::build`).
//! `remove.rs` makes a segment of tombstones in the same way. `replace.rs` and `by_id.rs` first find the records of
//! [`SortedIds`]: by the id index or, for many ids, by one pass over all records (`by_id_scan.rs`). `create.rs` creates
//! the directory before the load; `deal.rs` divides records among many stores; `id_index.rs` rewrites a store with an id index; `keys/` loads key indexes.
//!
//! Guaranteed: a load is one run and one manifest, so it is there whole or not at all, whenever the process ends or an
//! operation fails; an error leaves the store as it was. Buffers stay within `Options::with_load_memory`; the rest goes
//! to unnamed temporary files.
//!
//! Writes and queries go on during a load. The new segments are made without a lock. At the end the load takes the
//! writer lock, flushes the records that were written meanwhile, and installs its run as the last one; a load that
//! merges all runs holds the compaction lock first. Sorting and encoding run on a crew of the store's executor.

mod bulk_load;
mod by_id;
mod by_id_scan;
pub(crate) mod create;
mod deal;
mod id_index;
mod keys;
mod records;
mod remove;
mod replace;
mod sorted_ids;

pub(crate) use bulk_load::CompactAfter;
pub use bulk_load::LoadReport;
pub use by_id::RemoveIdsReport;
pub use deal::{DealtStore, deal};
pub use id_index::add_id_index;
pub(crate) use keys::{Beside, KnownIds};
pub use keys::{KeyLoadReport, KeySorter, SortedKeys};
pub use records::{IntoSorted, RecordSorter, Records, SortedRecords};
pub use remove::RemoveReport;
pub use replace::ReplaceReport;
pub use sorted_ids::{IdSorter, SortedIds};
