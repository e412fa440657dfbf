//! Joining fingerprints in memory, on one thread.
//!
//! The fingerprints of a [`Node`] are put in groups that agree in the bits of a child. The fingerprints of a small
//! group are compared with each other; a large group is a node that is divided further. Two buffers suffice for any
//! depth: groups are made in the other buffer, and one level down the two change places.

use super::hash::Groups;
use super::mask;
use super::node::Node;
use super::ordered::Step;
use super::sides::{Sides, total};
use crate::codec::{REACH, near_across, near_pairs};
use crate::fingerprint::Fingerprint;
use crate::plan::join::cheapest;
use std::cmp::Ordering;
use std::ops::Range;

/// Groups up to this size are compared at once; larger ones may be divided.
const SMALL: usize = 48;
/// Fingerprints that fit a core's cache with their buffers.
const CACHED: usize = 16384;
/// Fingerprints that are sampled for the bits that vary.
const SAMPLED: usize = 256;
/// Fingerprints that are compared before the found pairs are handed on.
const CHUNK: usize = 4096;

/// Takes pairs: of one side the smaller fingerprint first, of two the left one.
pub(super) type Take<'a, F> = &'a mut dyn FnMut(&[(F, F)]) -> Step;

/// Joins groups, with buffers for reuse.
#[derive(Debug)]
pub(super) struct Joiner<F> {
    k: u32,
    /// Whether both fingerprints of a pair are of the same side.
    within: bool,
    found: Vec<(F, F)>,
    ends: [Vec<u32>; 2],
}

impl<F: Fingerprint> Joiner<F> {
    pub(super) fn new(k: u32, within: bool) -> Self {
        Self { k, within, found: Vec::new(), ends: Default::default() }
    }

    /// As [`Joiner::join`], for a group of `groups` that may exceed a core's cache: makes finer groups first.
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

    /// Hands on the pairs of the node among these fingerprints, which agree in its bits or have the same hash by
    /// chance.
    pub(super) fn join(&mut self, node: &Node<F>, mut sides: Sides<'_, F>, take: Take<'_, F>) -> Step {
        if sides.len() <= SMALL {
            let right = sides.right.as_ref().map(|right| &*right.fingerprints);
            return self.compare(node, sides.left.fingerprints, right, take);
        }
        if self.k == 0 {
            return self.equal(node, sides, take);
        }
        let size = sides.size();
        // A bit that does not vary in the sample is in no part. A sample with too few varying bits is extended to all.
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

    /// The fingerprints that both sides have, of which each has a fingerprint once. At distance 0 there are no bits that
    /// a group could be divided by.
    fn equal(&mut self, node: &Node<F>, sides: Sides<'_, F>, take: Take<'_, F>) -> Step {
        let Some(right) = sides.right else { return Ok(()) };
        sides.left.fingerprints.sort_unstable();
        right.fingerprints.sort_unstable();
        let mut rest = right.fingerprints.iter().peekable();
        for one in &*sides.left.fingerprints {
            while rest.next_if(|other| *other < one).is_some() {}
            if rest.peek().is_some_and(|other| **other == *one) {
                self.found.push((*one, *one));
            }
            if self.found.len() >= CHUNK {
                self.hand_on(node, take)?;
            }
        }
        self.hand_on(node, take)
    }

    fn divide(&mut self, node: &Node<F>, sides: &mut Sides<'_, F>, take: Take<'_, F>) -> Step {
        let groups = Groups::new(node.equal, sides.len().ilog2());
        // Most groups are tiny, and a branch at the end of each would be mispredicted. So neighbours are compared even
        // across groups; only groups beyond that reach are compared by themselves.
        let seen = if sides.right.is_some() { 1 } else { REACH + 1 };
        let mut longer = Vec::new();
        sides.deal(groups, &mut self.ends, seen, &mut longer);
        let large = |group: &&[Range<usize>; 2]| total(group) > SMALL;
        if sides.right.is_none() {
            let mut from = 0;
            for [group, _] in longer.iter().filter(large) {
                self.neighbours(node, sides, from..group.start, take)?;
                from = group.end;
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
        for group in longer.iter().filter(large) {
            divided = true;
            self.join(node, sides.group(group.clone()), take)?;
        }
        if divided {
            sides.restore();
        }
        Ok(())
    }

    fn neighbours(&mut self, node: &Node<F>, sides: &Sides<'_, F>, range: Range<usize>, take: Take<'_, F>) -> Step {
        let all = sides.left.buffer.get(range).unwrap_or_default();
        for from in (0..all.len()).step_by(CHUNK) {
            let chunk = all.get(from..all.len().min(from + CHUNK + REACH)).unwrap_or_default();
            near_pairs(chunk, CHUNK, self.k, &mut self.found);
            self.hand_on(node, take)?;
        }
        Ok(())
    }

    /// The pairs of a small group in the buffers that are no neighbours.
    fn small(&mut self, sides: &Sides<'_, F>, [left, right]: &[Range<usize>; 2]) {
        let mut rest = sides.left.buffer.get(left.clone()).unwrap_or_default();
        if let Some(side) = &sides.right {
            let right = side.buffer.get(right.clone()).unwrap_or_default();
            near_across(rest, right, self.k, &mut self.found);
            return;
        }
        while let Some((one, others)) = rest.split_first() {
            near_across(std::slice::from_ref(one), others.get(REACH..).unwrap_or_default(), self.k, &mut self.found);
            rest = others;
        }
    }

    /// Hands on the pairs of the node between two lists of fingerprints, or within one.
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

    /// Hands on the found pairs that belong to the node.
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
