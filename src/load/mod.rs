mod bulk_load;
mod by_id;
mod by_id_scan;
pub(crate) mod create;
mod id_index;
mod records;
mod remove;
mod replace;
mod sorted_ids;

pub use bulk_load::LoadReport;
pub(crate) use bulk_load::Merging;
pub use by_id::RemoveIdsReport;
pub use id_index::add_id_index;
pub use records::{IntoSorted, RecordIds, RecordSorter, Records, SortedRecords};
pub use remove::RemoveReport;
pub use replace::ReplaceReport;
pub use sorted_ids::{IdSorter, SortedIds};
