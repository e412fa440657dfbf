//! Joining fingerprints that agree in bits which a table's keys have behind a few others: dealing stripes.

use super::buckets::Path;
use super::hash::Groups;
use super::mask;
use super::node::Node;
use super::passes::Passes;
use super::source::FingerprintSource;
use super::stripes::Stripes;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::segment::Segment;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Blocks of a stripe of all groups: with fewer, most blocks belong to several stripes.
const BLOCKS: usize = 4;

impl<'a, F: Fingerprint> Passes<'a, '_, '_, F> {
    /// The sources of both sides in stripes of a node's bits, if a table has these behind a few others.
    pub(super) fn as_striped(&self, node: &Node<F>, path: &Path<F>, bits: u32) -> Result<Option<Striped<'a, F>>> {
        let found = self.orders(path).iter().filter_map(|&order| Some((order, order.place_of(node.equal)?)));
        let Some((order, before)) = found.min_by_key(|&(_, before)| before) else { return Ok(None) };
        let groups = order.groups(node.equal, before, bits.min(mask::size(node.equal)));
        let striped = |segments: &'a [Arc<Segment>], source: &FingerprintSource<'a, F>| {
            let table = segments.first().and_then(|segment| order.table::<F>(segment));
            let table = table.filter(|table| table.index().len() >> before >= BLOCKS);
            let stripes = table.map(|table| Stripes { table, before, groups });
            stripes.map(|stripes| self.pool.install(|| source.in_stripes(stripes))).transpose()
        };
        let left = striped(self.join.left, &self.left)?;
        let right = self.join.right.zip(self.right.as_ref());
        let right = right.map(|(segments, source)| striped(segments, source)).transpose()?;
        Ok(match (left, right) {
            (Some(left), None) => Some(Striped { left, right: None, groups }),
            (Some(left), Some(Some(right))) => Some(Striped { left, right: Some(right), groups }),
            _ => None,
        })
    }

    /// All pairs of a node, whose fingerprints are read in stripes.
    pub(super) fn striped(&mut self, node: &Node<F>, path: &Path<F>, way: Striped<'a, F>) -> Result<ControlFlow<()>> {
        let Striped { left, right, groups } = way;
        let (left, right) = (std::mem::replace(&mut self.left, left), std::mem::replace(&mut self.right, right));
        let counts = self.counts(path, &[groups]).map(|mut counts| counts.pop().unwrap_or_default());
        let flow = counts.and_then(|counts| self.divide(node, path, groups, counts));
        (self.left, self.right) = (left, right);
        flow
    }
}

/// Sources in stripes.
pub(super) struct Striped<'a, F> {
    left: FingerprintSource<'a, F>,
    right: Option<FingerprintSource<'a, F>>,
    groups: Groups<F>,
}
