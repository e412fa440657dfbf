//! Plans: which sorted, permuted copies of the fingerprints are kept, and how they are probed.
//!
//! A table is sorted by its permuted key, so all fingerprints that agree with a query in the first bits of the key lie
//! together. Probing a table within a *radius* means looking at every place that the query's prefix, or the prefix with
//! at most that many bits flipped, begins. A [`Design`] lays out the tables and knows for every distance k within which
//! radius each table is to be probed, so that a fingerprint at distance k or less is found in at least one of them.
//!
//! That guarantee is the heart of an exact store. It rests on counting alone ([`Design::radii`]) and is proved by
//! exhaustion in the tests: all 43,745 error patterns of up to three of 64 bits, and all patterns of small widths.
//!
//! The prefix length is not part of a plan: any prefix of a table's leading part will do, because flips in the prefix
//! are at most the flips in the leading part. A query picks the length that suits the table's size (`probing`).

mod cost;
pub(crate) mod coverage;
mod design;
pub(crate) mod filter_shape;
mod form;
pub(crate) mod join;
pub(crate) mod masks;
pub(crate) mod merging;
mod permutation;
pub(crate) mod probing;
mod skew;
mod timings;

pub use cost::{Cost, Goal, Workload, best, predict, recommend};
pub use design::Design;
pub use skew::Skew;

#[cfg(feature = "unstable")]
pub use inner::{BitGroup, Permutation, TableForm, TableLayout, Timings};
#[cfg(not(feature = "unstable"))]
pub(crate) use inner::{Permutation, TableForm, TableLayout, Timings};

/// The inner types of plans, public with the feature `unstable` alone.
mod inner {
    pub use super::design::TableLayout;
    pub use super::form::TableForm;
    pub use super::permutation::{BitGroup, Permutation};
    pub use super::timings::Timings;
}
