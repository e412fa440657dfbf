//! What the bindings to other languages share: columns of Arrow arrays become records, answers become streams of record
//! batches. Answers are made by the library alone.
//!
//! * `input/`: fingerprints, ids and keys in Arrow arrays, row by row.
//! * `output/`: rows of answers to record batches, and the thread that makes them ([`Answers`]).
//! * `open.rs` opens a store whose kind and width are known at run time only, so that its long work can be stopped.
//! * `threads.rs`: the number of threads, and their start.
//! * `admin.rs`: statistics, verification, backups and compaction, whatever is open.
//! * `among.rs`: records of several stores and parts of a join, for joins that are divided among tasks.
//! * One file for each kind of work: `load.rs`, `write.rs`, `single.rs`, `query.rs`, `pairs.rs`, `clusters.rs`, `graph.rs`, and those
//!   of key indexes in `keys/`.
//!
//! Guaranteed: memory is bounded as in the library; a consumer that stops reading stops the work.

mod admin;
mod among;
mod clusters;
mod graph;
pub mod input;
mod keys;
mod load;
mod open;
mod output;
mod pairs;
mod plan;
mod query;
mod reports;
mod scan;
mod single;
mod threads;
mod write;

pub use among::{Among, Dealt, deal};
pub use clusters::{ClusterOptions, Kept, clusters, keep, ranked};
pub use graph::{claimed, linked, reasons};
pub use keys::{KeyColumns, key_clusters, key_keep, key_load, key_pairs, key_queries, key_records, remove_ids};
pub use load::{Columns, Deed, Loaded, load};
pub use open::{AnyIndex, AnySnapshot, Handle, Stop};
pub use output::{Answers, BATCH, Kind, Layout, Rows, Sender};
pub use pairs::{PairOptions, join, pairs};
pub use plan::design;
pub use query::{Question, check_distance, contains_near, queries};
pub use reports::{statistics_json, verified_json};
pub use scan::records;
pub use threads::{spawn_scoped, threads};
pub use write::{insert, insert_if_new, remove};
