//! Links between records that are not found by distance.

use crate::bitset::Bitset;
use crate::cluster::components::Components;
use crate::cluster::numbers::Numbers;
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::join::JobContext;
use crate::join::keys::SketchBuffers;
use std::fmt::Debug;

/// Finds which records are linked, in place of a join within a distance.
pub(crate) trait Linker<F>: Debug + Send + Sync {
    /// Bytes of memory that it takes as long as it exists.
    fn resident_bytes(&self) -> u64;

    /// Unites the numbers of all linked fingerprints.
    fn unite(&self, numbers: &Numbers<F>, sets: &UnionFind, job: &JobContext) -> Result<()>;

    /// Whether [`Linker::unite`] makes no pairs, of which there may be very many.
    fn unites_without_pairs(&self) -> bool;

    /// Calls `visit` with all linked pairs, each once, in a fixed order.
    fn pairs(&self, job: &JobContext, visit: &mut dyn FnMut(F, F) -> Result<()>) -> Result<()>;

    /// Puts into `members` the numbers of the fingerprints that may be linked to others.
    fn members(&self, numbers: &Numbers<F>, members: &mut Bitset, job: &JobContext) -> Result<()>;

    /// By star linkage, the position of the keeper of each position below `members`; `positions` has those of the
    /// numbers, by priority.
    fn stars(&self, numbers: &Numbers<F>, positions: &[u32], members: u32, job: &JobContext) -> Result<Vec<u32>>;

    /// For each number, the keys that it has in common with the keeper of its component; `keepers` has the fingerprints
    /// of these.
    fn count_shared(
        &self,
        numbers: &Numbers<F>,
        components: &Components,
        keepers: &[F],
        job: &JobContext,
    ) -> Result<Vec<u32>>;

    /// The estimated Jaccard similarity of two records, if it can be estimated.
    fn jaccard(&self, a: F, b: F, buffers: &mut SketchBuffers) -> Result<Option<f64>>;

    /// Whether records with so many keys in common are linked.
    fn is_near(&self, shared: u64, jaccard: Option<f64>) -> bool;

    /// Keys that did not count.
    fn skipped(&self) -> u64;
}
