//! Connected components of a store's records, and a label for each.
//!
//! [`Clusters`] has the snapshot and the parameters. [`Clusters::find`] (`find.rs`) numbers all fingerprints by their ranks
//! in the segments (`numbers.rs`), unites the numbers of each near pair on all threads of a crew (`union_find.rs`), and
//! flattens the sets to components (`components.rs`): four bytes a fingerprint. Pairs come from a join or, for a few
//! fingerprints, from one pass over all (`few.rs`). [`Clustering`] (`clustering.rs`) reads all ids once, lets the
//! [`Keeper`] choose the label of each component (`labels.rs`), and returns records with their labels in the order of the
//! store (`groups.rs`), or a [`ClusterReport`].
//!
//! [`Clusters::find_from`] continues from [`Previous`] labels. `matching.rs` matches them with the records by their places,
//! while a thread reads the records; `known.rs` and `labelled.rs` match the others by their ids, both sorted (`keys.rs`,
//! `sorted.rs`). Only records without a certain label are searched again. [`Clusters::find_changes`] returns just the
//! labels that changed (`changes.rs`), by the order in which labels and records came (`order.rs`, `counts.rs`).
//!
//! Guaranteed: the clusters and labels do not depend on threads, memory, or earlier labels; the memory is bounded by
//! [`Clusters::with_memory`]. Temporary files have no names and no specified format.

mod changes;
mod clustering;
mod clusters;
mod components;
mod counts;
mod few;
mod find;
mod groups;
mod keeper;
mod keys;
mod known;
mod labelled;
mod labels;
mod matching;
mod names;
mod numbers;
mod order;
mod previous;
mod report;
mod sorted;
mod union_find;

pub use changes::{ClusterChange, ClusterChanges, ClusterUpdate};
pub use clustering::{Clustered, ClusteredIter, Clustering, LeftOut};
pub use clusters::Clusters;
pub use keeper::{Keeper, Ranking};
pub use labels::{Label, LabelRef};
pub use previous::Previous;
pub use report::{ClusterReport, LargeCluster, SizeClass};
