//! Verification, backup and statistics of a store.
//!
//! [`verify()`] reads every byte of a store, or of one file, and reports all damages (`verify.rs`). It never changes
//! anything and needs no lock: if a writer replaces the manifest meanwhile, it starts again. [`crate::Store::backup`]
//! copies one state of an open store while writes go on, by hard links or byte by byte, and verifies the copy before it
//! returns (`backup.rs`); on error there is no copy. [`Statistics`] are sums over the footers of all segments and the
//! memtables (`statistics.rs`).
//!
//! Everything runs on the caller's thread, but for the segment that a backup makes of the memtables, which a crew
//! makes. format-spec/store.md specifies the files of a store and of a backup.

pub(crate) mod backup;
pub(crate) mod statistics;
mod verify;

pub use crate::db::{FilterStatistics, Health, Recovery, TornLog, Trouble, WritePressure};
pub use crate::format::manifest::WrittenBytes;
pub use crate::load::add_id_index;
pub use crate::segment::Damage;
pub use backup::{BackupMode, BackupReport};
pub(crate) use statistics::empty_tables;
#[cfg(feature = "unstable")]
pub(crate) use statistics::information_bound;
pub use statistics::{KeyStatistics, Statistics, TableStatistics};
pub(crate) use verify::check_keys;
pub use verify::{VerifyReport, verify};
