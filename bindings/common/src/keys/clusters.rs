//! Clusters of records that share keys.

use fpstore::Result;
use fpstore::keys::KeyRule;

use crate::clusters::{ClusterOptions, Kept, Known, start_clusters, start_keep};
use crate::open::Handle;
use crate::output::Answers;

/// The cluster of every record; columns as of [`crate::clusters`].
///
/// # Errors
/// Those of [`fpstore::KeyIndex::clusters`]; those of the search come as the last batch.
pub fn key_clusters(handle: &Handle, rule: KeyRule, options: &ClusterOptions) -> Result<Answers> {
    let index = handle.keys()?;
    start_clusters(options.apply(index.clusters(rule)?), index.parameters().ids(), options)
}

/// Which records are kept, or the evidence on the others: `id`, `keeper`, `cluster`, `shared_keys`, `jaccard`.
///
/// # Errors
/// As [`key_clusters`].
pub fn key_keep(handle: &Handle, rule: KeyRule, what: Kept, options: &ClusterOptions) -> Result<Answers> {
    let index = handle.keys()?;
    let clusters = options.apply(index.clusters(rule)?);
    start_keep(clusters, index.parameters().ids(), (what, Known::Keys), options.keeper.clone())
}
