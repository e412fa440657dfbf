//! Work of key indexes.

mod clusters;
mod load;
mod pairs;
mod query;
mod records;

pub use clusters::{key_clusters, key_keep};
pub use load::{KeyColumns, key_load, remove_ids};
pub use pairs::key_pairs;
pub use query::key_queries;
pub use records::key_records;
