mod context;
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

pub use context::check_hashers;
pub(crate) use context::{LOCK, Lock, StoreContext, absolute, check_width, hold, take_lock};
pub(crate) use lookup::{IdLookup, Pieces};
pub(crate) use loser_tree::Losers;
pub(crate) use membership::{MembershipCursor, RunSegment};
pub(crate) use newest::{NewestEntries, NewestEntry};
pub use record_iter::RecordIter;
pub use run::SegmentRole;
pub(crate) use run::{Run, of_id_index, of_tombstones, open_runs, open_segment};
pub(crate) use share::Share;
pub use snapshot::Snapshot;
pub(crate) use super_version::{LatestVersion, ReadView, SuperVersion, add_runs, newest_entries};
