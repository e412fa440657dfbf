//! Clusters of records that share keys.

use fpstore::Result;
use fpstore::keys::{KeyRule, KeySnapshot};

use crate::clusters::{ClusterOptions, Kept, Known, start_clusters, start_keep};
use crate::output::Answers;

/// The cluster of every record; columns as of [`crate::clusters`].
///
/// # Errors
/// Those of [`fpstore::KeyIndex::clusters`]; those of the search come as the last batch.
pub fn key_clusters(snapshot: &KeySnapshot, rule: KeyRule, options: &ClusterOptions) -> Result<Answers> {
    start_clusters(options.apply(snapshot.clusters(rule)?), snapshot.parameters().ids(), options)
}

/// Which records are kept, or the evidence on the others: `id`, `keeper`, `cluster`, `shared_keys`, `jaccard`.
///
/// # Errors
/// As [`key_clusters`].
pub fn key_keep(snapshot: &KeySnapshot, rule: KeyRule, what: Kept, options: &ClusterOptions) -> Result<Answers> {
    let clusters = options.apply(snapshot.clusters(rule)?);
    start_keep(clusters, snapshot.parameters().ids(), (what, Known::Keys), options.keeper.clone())
}
