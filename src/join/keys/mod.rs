//! All pairs of records of a key index that share keys.
//!
//! `groups.rs` reads the keys of all runs in order, and the records of each, or only the keys of some records
//! (`seeking.rs`); `common.rs` those of two indexes.
//! `pairs.rs` makes the pairs of each key's records, sorts them, and counts how often each occurs: that many keys the
//! two share. Every pair comes once, in the order in which its records were loaded. Memory is bounded: pairs are sorted
//! in temporary files. `sketches.rs` compares the sketches of two records, and `rule.rs` says which are a pair.

mod common;
mod groups;
mod pairs;
mod rule;
mod seeking;
mod sketches;

pub(crate) use groups::KeyGroups;
pub(crate) use pairs::{Between, NumberedPairs};
pub use pairs::{KeyPair, KeyPairs};
pub use rule::KeyRule;
pub(crate) use sketches::{SketchBuffers, Sketches};
