//! Queries of a key index: the records that share keys with a query, most shared keys first.
//!
//! `candidates.rs` counts for each record how many of the query's keys it has; `similarity.rs` estimates the Jaccard
//! similarity from two sketches, and `threshold.rs` says how much is enough; `search.rs` orders the records and reads
//! their ids. `records.rs` returns all records with their keys. A query answers from one state of the index, and finds
//! every record that shares as many keys as wanted.

mod candidates;
mod options;
mod records;
mod search;
mod similarity;
mod threshold;

pub use options::{KeyMatch, KeyQuery};
pub(crate) use records::visit_records;
pub use search::KeySearcher;
pub use similarity::jaccard;
pub(crate) use threshold::Threshold;
