//! Links between records that are not found by distance.

use crate::cluster::numbers::Numbers;
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::join::JobContext;
use std::fmt::Debug;

/// Finds which records are linked, in place of a join within a distance.
pub(crate) trait Linker<F>: Debug + Send + Sync {
    /// Unites the numbers of all linked fingerprints.
    fn unite(&self, numbers: &Numbers<F>, sets: &UnionFind, job: &JobContext) -> Result<()>;

    /// Calls `visit` with all linked pairs, each once, in a fixed order.
    fn pairs(&self, job: &JobContext, visit: &mut dyn FnMut(F, F) -> Result<()>) -> Result<()>;

    /// Keys that did not count.
    fn skipped(&self) -> u64;
}
