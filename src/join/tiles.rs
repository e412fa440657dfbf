//! Comparing all with all, where dividing does not pay: a distance that is large for the width, or hardly any bit that
//! varies.
//!
//! Fingerprints are dealt to tiles, and each tile is compared with itself and with those behind it, or with those of the
//! other side. As many tiles at a time are in memory as there is room for.

use super::buckets::{Counts, Path, load};
use super::group::Joiner;
use super::hash::Groups;
use super::mask;
use super::node::Node;
use super::ordered::{Output, ordered};
use super::passes::{Passes, Taker};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use std::ops::{ControlFlow, Range};

impl<'t, F: Fingerprint> Passes<'_, 't, F> {
    /// The pairs of a node among the fingerprints of a path, in two to the power of `bits` tiles on each side.
    pub(super) fn tiles(&mut self, node: &Node<F>, path: &Path<F>, bits: u32) -> Result<ControlFlow<()>> {
        let groups = Groups::new(mask::all(), bits);
        let counts = self.counts(path, groups)?;
        let [left, right] = if self.right.is_some() { [0, 1] } else { [0, 0] };
        let ranges = |side: usize| counts.get(side).map(|counts| self.join.ranges(groups, counts)).unwrap_or_default();
        for one in ranges(left) {
            for other in ranges(right) {
                if left == right && other.start < one.start {
                    continue;
                }
                let flow = self.tile(node, path, groups, &counts, [&one, &other])?;
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The pairs between the tiles of two ranges.
    fn tile(
        &mut self,
        node: &Node<F>,
        path: &Path<F>,
        groups: Groups<F>,
        [left_counts, right_counts]: &[Counts; 2],
        [one, other]: [&Range<usize>; 2],
    ) -> Result<ControlFlow<()>> {
        let (pool, k, within) = (self.pool, self.join.k, self.right.is_none());
        let [memory, right_memory] = &mut self.memory;
        let source = &self.left;
        let lefts = pool.install(|| load(source, path, groups, one, left_counts, memory))?;
        let (source, counts) = self.right.as_ref().map_or((&self.left, left_counts), |right| (right, right_counts));
        let rights = pool.install(|| load(source, path, groups, other, counts, right_memory))?;
        let mut tasks: Vec<(&[F], Option<&[F]>)> = Vec::new();
        for (number, left) in one.clone().zip(&lefts) {
            for (other, right) in other.clone().zip(&rights) {
                match () {
                    () if within && other < number => {}
                    () if within && other == number => tasks.push((left, None)),
                    () => tasks.push((left, Some(right))),
                }
            }
        }
        let (taker, progress) = (self.taker, &self.join.progress);
        let work = |(joiner, taker): &mut (Joiner<F>, Box<dyn Taker<F> + 't>),
                    (left, right): (&[F], Option<&[F]>),
                    output: &Output| {
            progress.check()?;
            joiner.compare(node, left, right, &mut |pairs| taker.take(pairs, output))?;
            taker.flush(output)
        };
        let flow =
            ordered(pool, tasks, || (Joiner::new(k, within), taker()), work, &mut |result| self.sink.take(result))?;
        if path.depth() == 0 && other.end == groups.count() {
            self.join.progress.advance(lefts.iter().map(|tile| tile.len() as u64).sum());
        }
        Ok(flow)
    }
}
