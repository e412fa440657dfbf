//! Joining fingerprints that agree in bits which a table's keys have behind others: they are dealt from its stripes,
//! or from those of such a table of each segment.

use super::buckets::{Counts, Path};
use super::hash::Groups;
use super::mask;
use super::merged::MergedTables;
use super::node::Node;
use super::passes::{MOST_LARGE, Passes};
use super::source::FingerprintSource;
use super::stripes::Stripes;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::segment::Segment;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Blocks of a stripe of all groups, on average of the tables: with fewer, most blocks belong to several stripes.
const BLOCKS: usize = 4;

/// The sources of both sides in stripes of a node's groups, and the sizes of these.
pub(super) struct InStripes<'a, F> {
    left: FingerprintSource<'a, F>,
    right: Option<FingerprintSource<'a, F>>,
    groups: Groups<F>,
    counts: [Counts; 2],
}

impl<'a, F: Fingerprint> Passes<'a, '_, '_, F> {
    /// The way to join a node's fingerprints in stripes of up to 2 to the power of `bits` groups, if a table has long
    /// ones. It takes a pass of its own to count the groups.
    pub(super) fn as_in_stripes(&self, node: &Node<F>, path: &Path<F>, bits: u32) -> Result<Option<InStripes<'a, F>>> {
        let found = self.orders(path).iter().filter_map(|&order| Some((order, order.place_of(node.equal)?)));
        let Some((order, before)) = found.min_by_key(|&(_, before)| before) else { return Ok(None) };
        let groups = order.groups(node.equal, before, bits.min(mask::size(node.equal)));
        let striped = |segments: &'a [Arc<Segment>], source: &FingerprintSource<'a, F>| {
            let tables = order.tables::<F>(segments).map(MergedTables::new);
            let tables = tables.filter(|tables| tables.blocks() >> before >= BLOCKS * tables.count());
            let stripes = tables.map(|tables| Stripes { tables, before, groups });
            stripes.map(|stripes| self.pool.install(|| source.striped(stripes))).transpose()
        };
        let Some(left) = striped(self.join.left, &self.left)? else { return Ok(None) };
        let right = match self.join.right.zip(self.right.as_ref()) {
            None => None,
            Some((segments, source)) => match striped(segments, source)? {
                None => return Ok(None),
                right => right,
            },
        };
        let counts = self.counts((&left, right.as_ref()), path, &[groups])?.pop().unwrap_or_default();
        let is_large =
            |group: &usize| counts.iter().map(|side| side.of(*group)).sum::<usize>() > self.join.most_in_bucket();
        let large = (0..groups.count()).filter(is_large).count();
        // A hash of all bits of the node may divide these.
        let is_skewed = large > MOST_LARGE && !groups.is_exact();
        Ok((!is_skewed).then_some(InStripes { left, right, groups, counts }))
    }

    /// All pairs of a node, whose fingerprints are dealt from stripes.
    pub(super) fn in_stripes(
        &mut self,
        node: &Node<F>,
        path: &Path<F>,
        way: InStripes<'a, F>,
    ) -> Result<ControlFlow<()>> {
        let InStripes { left, right, groups, counts } = way;
        let (left, right) = (std::mem::replace(&mut self.left, left), std::mem::replace(&mut self.right, right));
        let flow = self.divide(node, path, groups, counts);
        (self.left, self.right) = (left, right);
        flow
    }
}
