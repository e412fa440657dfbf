//! Links between records that are not found by distance.

use crate::bitset::{Bitset, NumberSet};
use crate::cluster::components::Components;
use crate::cluster::numbers::Numbers;
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::join::keys::SketchBuffers;
use crate::join::{JobContext, Progress};
use std::fmt::Debug;

/// Positions of fingerprints by priority.
pub(crate) struct Places<'a> {
    /// By number the position; that of a fingerprint that takes no part is not below `count`.
    pub(crate) positions: &'a [u32],
    pub(crate) count: u32,
    /// Positions below are of keepers, and stay it.
    pub(crate) settled: u32,
    /// The first words of the other ones, if there are settled ones.
    pub(crate) fresh: Option<&'a NumberSet>,
}

/// Finds which records are linked, in place of a join within a distance.
pub(crate) trait Linker<F>: Debug + Send + Sync {
    /// Bytes of memory that it takes as long as it exists.
    fn resident_bytes(&self) -> u64;

    /// Unites the numbers of all linked fingerprints. Given `fresh` ones, by their first words, only the links of these
    /// are looked for: the others that are linked were united.
    fn unite(&self, numbers: &Numbers<F>, sets: &UnionFind, fresh: Option<&NumberSet>, job: &JobContext) -> Result<()>;

    /// Whether [`Linker::unite`] makes no pairs, of which there may be very many.
    fn unites_without_pairs(&self) -> bool;

    /// Whether other fingerprints decide, too, on whether two are linked.
    fn depends_on_others(&self) -> bool;

    /// Puts into `doubted` the numbers of fingerprints that may have lost a link because of `fresh` ones, and returns
    /// the number of keys that no longer count because of these.
    fn doubt(&self, numbers: &Numbers<F>, fresh: &NumberSet, doubted: &mut Bitset, progress: &Progress) -> Result<u64>;

    /// Calls `visit` with all linked pairs, each once, in a fixed order.
    fn pairs(&self, job: &JobContext, visit: &mut dyn FnMut(F, F) -> Result<()>) -> Result<()>;

    /// Puts into `members` the numbers of the fingerprints that may be linked to others or, given `fresh` ones, to
    /// these.
    fn members(
        &self,
        numbers: &Numbers<F>,
        members: &mut Bitset,
        fresh: Option<&NumberSet>,
        job: &JobContext,
    ) -> Result<()>;

    /// By star linkage, the position of the keeper of each position.
    fn stars(&self, numbers: &Numbers<F>, places: &Places<'_>, job: &JobContext) -> Result<Vec<u32>>;

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
