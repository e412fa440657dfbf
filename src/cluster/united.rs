//! Components, before they have labels.

use crate::cluster::components::Components;
use crate::cluster::numbers::Numbers;
use crate::cluster::union_find::UnionFind;
use crate::fingerprint::Fingerprint;
use crate::join::{Output, Step, Taker, Ticket};
use crate::segment::{Scratch, Segment};
use std::sync::Arc;

/// Components, before they have labels.
pub(crate) struct United<F: Fingerprint> {
    pub(crate) segments: Vec<Arc<Segment>>,
    pub(crate) numbers: Numbers<F>,
    pub(crate) components: Components,
    /// Those of the labels from before, if there is memory for them and most may still be the same.
    pub(crate) before: Option<Components>,
    /// Fingerprints whose near ones were looked for.
    pub(crate) searched: u64,
    /// Labels from before of records that are there.
    pub(crate) labelled: u64,
}

/// Unites the sets of fingerprints that are near each other.
pub(crate) struct Uniter<'a, F> {
    pub(crate) numbers: &'a Numbers<F>,
    pub(crate) sets: &'a UnionFind,
    pub(crate) scratch: Scratch,
}

impl<F: Fingerprint> Taker<F> for Uniter<'_, F> {
    fn take(&mut self, pairs: &[(F, F)], _: &Output<Ticket>) -> Step {
        for &(a, b) in pairs {
            let a = self.numbers.of(a, &mut self.scratch)?;
            self.sets.unite(a, self.numbers.of(b, &mut self.scratch)?);
        }
        Ok(())
    }

    fn flush(&mut self, _: &Output<Ticket>) -> Step {
        Ok(())
    }
}
