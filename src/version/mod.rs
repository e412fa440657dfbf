//! The state of a store at one moment, and how to read it.
//!
//! A reader sees one consistent state for as long as it keeps it, without locks: later writes, flushes and compactions
//! do not change it. The files of replaced segments go when their last reader has dropped them. The manifest and the
//! runs are specified in format-spec/manifest.md and runs.md.
//!
//! * [`Run`] (`run.rs`): the open segments of one flush, load or compaction: records, tombstones and id index.
//! * [`SuperVersion`] (`super_version.rs`): the runs and the memtables between two changes. [`LatestVersion`] has the
//!   current one; a [`ReadView`] is one with the number of visible records of its last memtable. A public [`Snapshot`]
//!   is a `ReadView`.
//! * [`NewestEntries`] (`newest.rs`): merges memtables and runs to the newest entry of every record, with a loser tree
//!   (`loser_tree.rs`). [`RecordIter`] returns the live records of a view or of a [`Share`] (`share.rs`), a range of
//!   fingerprints.
//! * [`MembershipCursor`] (`membership.rs`): which of many sorted records a store has. [`IdLookup`] and [`Pieces`]
//!   (`lookup.rs`): the ids of a fingerprint.
//! * [`StoreContext`] (`context.rs`): path, parameters and options; the lock of the directory.
//!
//! A query loads the latest `SuperVersion` and searches its parts (`query`). The engine publishes the next one (`db`);
//! it opens the runs that the manifest names with [`open_runs`], and replaces the manifest with `manifest.rs`.

mod context;
mod first_queries;
mod keyed_runs;
mod lookup;
mod loser_tree;
pub(crate) mod manifest;
mod membership;
#[cfg(test)]
mod membership_tests;
mod newest;
#[cfg(test)]
mod newest_tests;
mod record_iter;
mod run;
mod share;
mod snapshot;
mod super_version;

pub(crate) use context::{LOCK, Lock, StoreContext, absolute, check_kind, check_width, hold, take_lock};
pub(crate) use keyed_runs::{SketchCursor, keys_of, number_bounds, record_ranks, removed_numbers};
pub(crate) use lookup::{IdLookup, Pieces};
pub(crate) use loser_tree::Losers;
pub(crate) use membership::{MembershipCursor, RunSegment};
pub(crate) use newest::{NewestEntries, NewestEntry};
pub use record_iter::RecordIter;
pub use run::SegmentRole;
pub(crate) use run::{Run, of_id_index, of_keys, of_records, of_tombstones, open_runs, open_segment, run_segments};
pub(crate) use share::Share;
pub use snapshot::Snapshot;
pub(crate) use super_version::{LatestVersion, ReadView, SuperVersion, add_runs, newest_entries};
