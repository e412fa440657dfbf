//! Looking after a store: what it is and how it fares, verification, backups.

pub(crate) mod backup;
pub(crate) mod statistics;
mod verify;

pub use crate::db::{FilterStatistics, Health, Recovery, TornLog, Trouble, WritePressure};
pub use crate::load::add_id_index;
pub use crate::segment::Damage;
pub use backup::{BackupMode, BackupReport};
pub(crate) use statistics::empty_tables;
#[cfg(feature = "unstable")]
pub(crate) use statistics::information_bound;
pub use statistics::{Statistics, TableStatistics, WrittenBytes};
pub use verify::{VerifyReport, verify};
