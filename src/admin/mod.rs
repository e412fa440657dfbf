pub(crate) mod backup;
pub(crate) mod statistics;
pub(crate) mod verify;

pub use backup::{BackupMode, BackupReport};
pub use statistics::{Statistics, TableStatistics, WrittenBytes};
pub(crate) use statistics::{empty_tables, information_bound};
pub use verify::VerifyReport;
pub(crate) use verify::verify;
