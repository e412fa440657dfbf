//! Plans: the sorted, permuted copies of the fingerprints, and how they are probed. Pure: no files, no state.
//!
//! A table is sorted by its permuted key (`Permutation`), so all fingerprints that agree with a query in the first
//! bits of the key are neighbours. Probing a table within a *radius* means looking up the query's prefix, and the
//! prefix with at most this many bits flipped (`masks.rs`). A [`Design`] lays out the tables and returns for every
//! distance k the radius of each ([`Design::radii`]), so that a fingerprint within distance k is found in at least one
//! table. Answers are exact because of this rule. It is proved by counting, and the tests check all 43,745 error
//! patterns of up to three of 64 bits and all patterns of small widths. `TableForm` is the form of a table's keys;
//! format-spec/plan.md specifies both.
//!
//! The prefix length is not part of a plan: any prefix of a table's leading part will do, because flips in the prefix
//! are at most the flips in the leading part. A query takes the fastest length for the table's size and skew
//! (`probing.rs`, `coverage.rs`), with a filter if there is one (`filter_shape/`). `batch_join.rs` and `join.rs` do
//! the same for batches and joins. The steps of a query have their times in `Timings`; those of a batch join and of a
//! join of all with all stand in these two files. A [`Part`] divides a join among machines (`part.rs`).
//!
//! [`predict`] and [`recommend`] choose a design for evenly spread keys (`cost.rs`); [`Skew`] does so on the data
//! (`skew/`).

pub(crate) mod batch_join;
mod cost;
pub(crate) mod coverage;
mod design;
pub(crate) mod filter_shape;
mod form;
pub(crate) mod join;
pub(crate) mod masks;
mod part;
mod permutation;
pub(crate) mod probing;
mod skew;
mod timings;

pub use cost::{Cost, Goal, Workload, best, predict, recommend};
pub use design::Design;
pub use part::{Part, PartGroups};
pub use skew::Skew;
#[cfg(test)]
pub(crate) use skew::{Random, mix};

// The inner types of plans.
#[cfg(feature = "unstable")]
pub use {design::TableLayout, form::TableForm, permutation::BitGroup, permutation::Permutation, timings::Timings};
#[cfg(not(feature = "unstable"))]
pub(crate) use {design::TableLayout, form::TableForm, permutation::Permutation, timings::Timings};
