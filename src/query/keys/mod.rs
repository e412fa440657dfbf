//! Queries of a key index: the records that share keys with a query, most shared keys first.
//!
//! `lookup.rs` finds the records behind keys; `candidates.rs` counts for each record how many of the query's keys it
//! has; `similarity.rs` estimates the Jaccard similarity from two sketches, and `threshold.rs` says how much is enough;
//! `answer.rs` drops removed records, orders the others and reads their ids. `search.rs` runs one query, `batch.rs`
//! many, whose keys `merged.rs` looks up together. `records.rs` returns all records with their keys. A query answers
//! from one state of the index, and finds every record that shares as many keys as wanted.

mod answer;
mod batch;
mod candidates;
mod lookup;
mod merged;
mod options;
mod records;
mod search;
mod similarity;
mod threshold;

pub use options::{KeyMatch, KeyQuery, QueryKeys};
pub(crate) use records::visit_records;
pub use search::KeySearcher;
pub use similarity::jaccard;
pub(crate) use threshold::Threshold;
