//! Connected components: fingerprints that are linked by pairs, directly or by others in between.
//!
//! Fingerprints are known by numbers ([`Numbers`]). All threads unite those of a pair ([`UnionFind`]); in the end each one
//! has the number of its component ([`Components`]). Memory: four bytes a fingerprint.

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
mod shares;
mod sorted;
mod union_find;
mod united;

pub use changes::{ClusterChange, ClusterChanges, ClusterUpdate};
pub use clustering::{Clustered, ClusteredIter, Clustering, LeftOut};
pub use clusters::Clusters;
pub use keeper::{Keeper, Ranking};
pub use labels::{Label, LabelRef};
pub use previous::Previous;
pub use report::{ClusterReport, LargeCluster, SizeClass};
