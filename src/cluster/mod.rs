//! Clusters of a store's records, and a label for each.
//!
//! [`Clusters`] has the snapshot and the parameters. [`Clusters::find`] (`find_clusters.rs`) numbers all fingerprints
//! by their ranks in the segments (`numbers.rs`), unites the numbers of each near pair on all threads of a crew
//! (`union_find.rs`), and flattens the sets to components (`components.rs`): four bytes a fingerprint. Pairs come from
//! a join or, for a few fingerprints, from one pass over all (`few_pairs.rs`). [`Clustering`] (`clustering.rs`) reads
//! all ids once, lets the [`Keeper`] choose the label of each component (`labels.rs`), and returns records with their
//! labels in the order of the store (`groups.rs`), or a [`ClusterReport`].
//!
//! [`Clusters::find_from`] continues from [`Previous`] labels. `match_by_place.rs` matches them with the records by
//! their places, while a thread reads the records; `earlier_clusters.rs` and `match_by_id.rs` match the others by their
//! ids, both sorted (`keys.rs`). Only records without a certain label are searched again.
//! [`Clusters::find_changes`] returns just the labels that changed (`changes.rs`), by the order in which labels and
//! records came (`label_order.rs`, `unary_counts.rs`).
//!
//! [`Linkage`] (`linkage.rs`) is the rule that makes clusters of pairs. Star and complete linkage take fingerprints by
//! priority (`find_linked.rs`, `priority.rs`); `decisions.rs` tells which records are kept, and why the others are not,
//! `chains.rs` the connected components that they divide. [`Clusters::find_from_removals`] (`find_added.rs`) continues
//! from that evidence ([`Removals`], `match_removals.rs`): only new fingerprints are compared, with each other and with
//! earlier keepers. In a key index, a linker (`linker.rs`, `key_links.rs`, `key_stars.rs`) takes the place of joins.
//!
//! [`linked`] (`graph.rs`) makes clusters of pairs that were found elsewhere.
//!
//! Guaranteed: the clusters and labels do not depend on threads, memory, or earlier labels; the memory is bounded by
//! [`Clusters::with_memory`]. Temporary files have no names and no specified format.

mod chains;
mod changes;
mod clustering;
mod clusters;
mod components;
mod decisions;
mod earlier_clusters;
mod few_pairs;
mod find_added;
mod find_clusters;
mod find_linked;
mod graph;
mod groups;
mod keeper;
mod key_links;
mod key_stars;
mod keys;
mod label_order;
mod labels;
mod linkage;
mod linker;
mod match_by_id;
mod match_by_place;
mod match_removals;
mod names;
mod nearness;
mod numbers;
mod previous;
mod priority;
mod removals;
mod report;
mod totals;
mod unary_counts;
mod union_find;

pub use chains::{Chain, Chains};
pub use changes::{ClusterChange, ClusterChanges, ClusterUpdate};
pub use clustering::{Clustered, ClusteredIter, Clustering};
pub use clusters::Clusters;
pub use decisions::{Decision, LeftOut, Removed};
pub use graph::linked;
pub use keeper::{Keeper, Ranking};
pub(crate) use key_links::KeyLinks;
pub use labels::{Label, LabelRef};
pub use linkage::Linkage;
pub use nearness::{Nearness, Nearnesses};
pub use previous::Previous;
pub use removals::Removals;
pub use report::{ClusterReport, LargeCluster, SizeClass, Spread};
