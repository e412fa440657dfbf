//! Comparing all with all, where dividing does not pay: the distance is large for the width, or few bits vary.
//!
//! Fingerprints are dealt to tiles. Each tile is compared with itself and with those after it, or with those of the
//! other side. Memory holds as many tiles at a time as it has space for.

use super::buckets::{Counts, Path, load};
use super::group::Joiner;
use super::hash::Groups;
use super::mask;
use super::node::Node;
use super::ordered::{Output, ordered};
use super::passes::Passes;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::taker::{Taker, Ticket};
use std::ops::{ControlFlow, Range};

impl<'t, F: Fingerprint> Passes<'_, '_, 't, F> {
    /// The pairs of a node among the fingerprints of a path, in 2 to the power of `bits` tiles on each side.
    pub(super) fn tiles(&mut self, node: &Node<F>, path: &Path<F>, bits: u32) -> Result<ControlFlow<()>> {
        let groups = Groups::new(mask::all(), bits);
        let counts = self.counts((&self.left, self.right.as_ref()), path, &[groups])?.pop().unwrap_or_default();
        let [left_counts, right_counts] = &counts;
        let (k, within) = (self.join.k, self.right.is_none());
        let right_counts = if within { left_counts } else { right_counts };
        let most = self.join.most_in_memory() / 2;
        let [left, right] = [left_counts, right_counts].map(|counts| ranges(groups, counts, most));
        let largest = |ranges: &[Range<usize>], counts: &Counts| {
            ranges.iter().map(|range| counts.of_range(range)).max().unwrap_or(0)
        };
        let is_whole = within && right.len() == 1;
        let needed = [largest(&left, left_counts), if is_whole { 0 } else { largest(&right, right_counts) }];
        self.make_space(needed.map(|needed| (needed, needed)))?;
        let pool = self.pool;
        let [memory, right_memory] = &mut self.memory;
        let other_source = self.right.as_ref().unwrap_or(&self.left);
        let (source, taker, progress, sink) = (&self.left, self.taker, &self.join.progress, &mut self.sink);
        let work = |(joiner, taker): &mut (Joiner<F>, Box<dyn Taker<F> + 't>),
                    (left, right): (&[F], Option<&[F]>),
                    output: &Output<Ticket>| {
            progress.check()?;
            joiner.compare(node, left, right, &mut |pairs| taker.take(pairs, output))?;
            taker.flush(output)
        };
        for one in &left {
            let lefts = pool.install(|| load(source, path, groups, one, left_counts, memory))?;
            for other in &right {
                let tasks = if within && other.start < one.start {
                    continue;
                } else if within && other == one {
                    among(&lefts)
                } else {
                    let rights =
                        pool.install(|| load(other_source, path, groups, other, right_counts, right_memory))?;
                    between(&lefts, rights)
                };
                let worker = || (Joiner::new(k, within), taker());
                if ordered(None, pool, tasks, worker, work, &mut **sink)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if path.is_all() {
                progress.advance(lefts.iter().map(|tile| tile.len() as u64).sum());
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Cuts tiles into ranges of at most this many fingerprints, or of one tile.
fn ranges<F: Fingerprint>(groups: Groups<F>, counts: &Counts, most: usize) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut sum = 0;
    for tile in 0..groups.count() {
        sum += counts.of(tile);
        match ranges.last_mut() {
            Some(range) if sum <= most => range.end = tile + 1,
            _ => {
                sum = counts.of(tile);
                ranges.push(tile..tile + 1);
            }
        }
    }
    ranges
}

/// Two tiles to compare, or one to compare with itself.
type Two<'a, F> = (&'a [F], Option<&'a [F]>);

/// Each two of the tiles, and each tile with itself.
fn among<'a, F>(tiles: &'a [&mut [F]]) -> Vec<Two<'a, F>> {
    let with = |(number, tile): (usize, &'a &mut [F])| -> Vec<Two<'a, F>> {
        let others = tiles.iter().skip(number + 1).map(|other| (&**tile, Some(&**other)));
        std::iter::once((&**tile, None)).chain(others).collect()
    };
    tiles.iter().enumerate().flat_map(with).collect()
}

fn between<'a, F>(lefts: &'a [&mut [F]], rights: Vec<&'a mut [F]>) -> Vec<Two<'a, F>> {
    let rights: Vec<&'a [F]> = rights.into_iter().map(|right| &*right).collect();
    lefts.iter().flat_map(|left| rights.iter().map(|&right| (&**left, Some(right)))).collect()
}
