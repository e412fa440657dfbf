//! Joining what is in memory, on one thread.
//!
//! Fingerprints of a [`Node`] are put in groups that agree in the bits of a child; the few of a group are compared with
//! each other, a large group is a node that is divided further. Two buffers are enough however deep that goes: groups
//! are made in the other buffer, and below them the two change places.

use super::hash::Groups;
use super::mask;
use super::node::Node;
use super::sides::{Range, Sides};
use super::stop::Step;
use crate::codec::{REACH, near_across, near_pairs};
use crate::fingerprint::Fingerprint;
use crate::plan::join::cheapest;
use std::cmp::Ordering;

/// Groups of so many are compared at once; larger ones may be divided.
const SMALL: usize = 48;
/// Fingerprints that fit a core's cache, with what is made of them.
const CACHED: usize = 16384;
/// Fingerprints that are looked at to see which bits vary.
const SAMPLED: usize = 256;
/// Fingerprints that are compared between two looks at what was found.
const CHUNK: usize = 4096;

/// Takes pairs that were found; of one side the smaller fingerprint first, of two the left one.
pub(super) type Take<'a, F> = &'a mut dyn FnMut(&[(F, F)]) -> Step;

/// Joins groups; its buffers are used again.
#[derive(Debug)]
pub(super) struct Joiner<F> {
    k: u32,
    /// Whether both fingerprints of a pair are of the same side; the smaller one comes first then.
    within: bool,
    found: Vec<(F, F)>,
    /// Where groups end, on each side.
    ends: [Vec<u32>; 2],
}

impl<F: Fingerprint> Joiner<F> {
    /// For pairs within distance `k`, within one side or between two.
    pub(super) fn new(k: u32, within: bool) -> Self {
        Self { k, within, found: Vec::new(), ends: Default::default() }
    }

    /// As [`Joiner::join`], for more than fit a core's cache: these came together by `groups`, which are made finer first.
    pub(super) fn join_group(
        &mut self,
        node: &Node<F>,
        mut sides: Sides<'_, F>,
        groups: Groups<F>,
        take: Take<'_, F>,
    ) -> Step {
        let more = (sides.len() / CACHED).checked_ilog2().map_or(0, |bits| bits + 1);
        let Some(finer) = groups.finer(more) else { return self.join(node, sides, take) };
        let mut all = Vec::new();
        sides.deal(finer, &mut self.ends, 0, &mut all);
        all.into_iter().try_for_each(|group| self.join(node, sides.group(group), take))
    }

    /// Hands on the pairs of the node among these fingerprints, which agree in its bits or came together by chance.
    pub(super) fn join(&mut self, node: &Node<F>, mut sides: Sides<'_, F>, take: Take<'_, F>) -> Step {
        if sides.len() <= SMALL {
            let right = sides.right.as_ref().map(|right| &*right.fingerprints);
            return self.compare(node, sides.left.fingerprints, right, take);
        }
        let size = sides.size();
        // A bit that varies only elsewhere is chosen for no part; where a few tell nothing, all are looked at.
        let mut varying = sides.varying(SAMPLED);
        if mask::size(mask::without(varying, node.equal)) <= self.k {
            varying = sides.varying(usize::MAX);
        }
        let anew = node.anew(mask::without(varying, node.equal), self.k);
        let [way, other] =
            [node, &anew].map(|node| cheapest(size, mask::size(mask::and(node.free, varying)), node.errors));
        let (node, levels) = match way.nanos.total_cmp(&other.nanos) {
            Ordering::Greater => (&anew, other.levels),
            _ => (node, way.levels),
        };
        if levels == 0 {
            let right = sides.right.as_ref().map(|right| &*right.fingerprints);
            return self.compare(node, sides.left.fingerprints, right, take);
        }
        node.children(varying, levels).iter().try_for_each(|child| self.divide(child, &mut sides, take))
    }

    /// Makes the groups of a node and joins each.
    fn divide(&mut self, node: &Node<F>, sides: &mut Sides<'_, F>, take: Take<'_, F>) -> Step {
        let groups = Groups::new(node.equal, sides.len().ilog2());
        // Most groups are tiny, and where one ends cannot be foreseen. So neighbours are compared whether or not they are
        // in the same group; only groups of more than that sees are gone through by themselves.
        let seen = if sides.right.is_some() { 1 } else { REACH + 1 };
        let mut longer = Vec::new();
        sides.deal(groups, &mut self.ends, seen, &mut longer);
        let large = |group: &&[Range; 2]| group.iter().map(Range::len).sum::<usize>() > SMALL;
        if sides.right.is_none() {
            let mut from = 0;
            for [group, _] in longer.iter().filter(large) {
                self.neighbours(node, sides, from..group.start(), take)?;
                from = group.end();
            }
            self.neighbours(node, sides, from..sides.len(), take)?;
        }
        for group in longer.iter().filter(|group| !large(group)) {
            self.small(sides, group);
            if self.found.len() >= CHUNK {
                self.hand_on(node, take)?;
            }
        }
        self.hand_on(node, take)?;
        let mut divided = false;
        for &group in longer.iter().filter(large) {
            divided = true;
            self.join(node, sides.group(group), take)?;
        }
        if divided {
            sides.restore();
        }
        Ok(())
    }

    /// The pairs of neighbours in the left buffer.
    fn neighbours(
        &mut self,
        node: &Node<F>,
        sides: &Sides<'_, F>,
        range: std::ops::Range<usize>,
        take: Take<'_, F>,
    ) -> Step {
        let all = sides.left.buffer.get(range).unwrap_or_default();
        for from in (0..all.len()).step_by(CHUNK) {
            let chunk = all.get(from..all.len().min(from + CHUNK + REACH)).unwrap_or_default();
            near_pairs(chunk, CHUNK, self.k, &mut self.found);
            self.hand_on(node, take)?;
        }
        Ok(())
    }

    /// The pairs of a small group in the buffers that are no neighbours.
    fn small(&mut self, sides: &Sides<'_, F>, [left, right]: &[Range; 2]) {
        let mut rest = left.of(sides.left.buffer);
        if let Some(side) = &sides.right {
            near_across(rest, right.of(side.buffer), self.k, &mut self.found);
            return;
        }
        while let Some((one, others)) = rest.split_first() {
            near_across(std::slice::from_ref(one), others.get(REACH..).unwrap_or_default(), self.k, &mut self.found);
            rest = others;
        }
    }

    /// Hands on the pairs of the node between two groups of fingerprints, or within one.
    pub(super) fn compare(&mut self, node: &Node<F>, left: &[F], right: Option<&[F]>, take: Take<'_, F>) -> Step {
        let mut rest = left;
        while let Some((one, others)) = rest.split_first() {
            for chunk in right.unwrap_or(others).chunks(CHUNK) {
                near_across(std::slice::from_ref(one), chunk, self.k, &mut self.found);
                if self.found.len() >= CHUNK {
                    self.hand_on(node, take)?;
                }
            }
            rest = others;
        }
        self.hand_on(node, take)
    }

    /// Hands on those found that belong to the node.
    fn hand_on(&mut self, node: &Node<F>, take: Take<'_, F>) -> Step {
        self.found.retain(|&(a, b)| node.has(a, b));
        if self.within {
            self.found.iter_mut().filter(|(a, b)| *a > *b).for_each(|(a, b)| std::mem::swap(a, b));
        }
        let taken = if self.found.is_empty() { Ok(()) } else { take(&self.found) };
        self.found.clear();
        taken
    }
}
