//! Joining fingerprints in memory, on one thread.
//!
//! The fingerprints of a [`Node`] are put in groups that agree in the bits of a child. The fingerprints of a small
//! group are compared with each other; a large group is a node that is divided further. Two buffers suffice for any
//! depth: groups are made in the other buffer, and one level down the two change places.

use super::hash::Groups;
use super::mask;
use super::node::Node;
use super::order::Order;
use super::ordered::{Step, Stop};
use super::sides::{Sides, total};
use crate::codec::{REACH, near_across, near_pairs, near_within};
use crate::fingerprint::Fingerprint;
use crate::plan::join::cheapest;
use std::cmp::Ordering;
use std::ops::Range;

/// Groups up to this size are compared at once; larger ones may be divided.
const SMALL: usize = 48;
/// The same for groups of one side and of fingerprints of one word, in which all are compared with all, eight at a time:
/// a pair takes 0.1 to 0.3 ns, and dividing such a group some 20 ns a fingerprint.
const SMALL_WITHIN: usize = 256;
/// Fingerprints that fit a core's second cache with their buffers.
const CACHED: usize = 16384;
/// More fingerprints are first dealt to groups of about this size: what dealing reads and writes then stays in a core's
/// first two caches.
const DEALT: usize = 4096;
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
        let Some(finer) = groups.finer(more) else { return self.join(node, sides, groups.is_exact(), None, take) };
        let mut all = Vec::new();
        sides.deal(finer, &mut self.ends, 0, &mut all);
        all.into_iter().try_for_each(|group| self.join(node, sides.group(group), finer.is_exact(), None, take))
    }

    /// Hands on the pairs of the node among these fingerprints, which agree in its bits (`exact`) or may only have the
    /// same hash of them. They may be sorted by an order that begins with the node's bits.
    pub(super) fn join(
        &mut self,
        node: &Node<F>,
        mut sides: Sides<'_, F>,
        exact: bool,
        sorted: Option<Order>,
        take: Take<'_, F>,
    ) -> Step {
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
        let parts = node.parts(varying, levels, sorted.as_slice());
        let children = node.children(&parts);
        let mut rest =
            children.iter().zip(parts).map(|(child, part)| (child, if exact { part } else { child.equal })).peekable();
        if let Some(order) = sorted.filter(|_| self.within)
            && let Some((child, mask)) = rest.next_if(|(child, _)| order.begins_with(child.equal))
        {
            self.in_sequence(child, mask, &mut sides, take)?;
        }
        rest.try_for_each(|(child, mask)| self.divide(child, mask, &mut sides, take))
    }

    /// As [`Self::divide`] within one side, whose fingerprints are sorted by the bits of the child: groups follow each
    /// other.
    fn in_sequence(&mut self, child: &Node<F>, mask: F, sides: &mut Sides<'_, F>, take: Take<'_, F>) -> Step {
        // Where dealing would have put them.
        sides.left.exchange();
        let groups = Groups::new(mask, sides.len().ilog2());
        let (by_themselves, seen) = reach(sides, groups);
        let longer = runs(sides.left.buffer, mask, seen);
        self.groups(child, sides, (&longer, by_themselves), true, take)?;
        sides.left.exchange();
        Ok(())
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

    /// Hands on the pairs of a child of a node; `mask` are the bits of the child in which the fingerprints may differ.
    fn divide(&mut self, node: &Node<F>, mask: F, sides: &mut Sides<'_, F>, take: Take<'_, F>) -> Step {
        let groups = Groups::new(mask, sides.len().ilog2());
        let coarse = groups.coarser(groups.bits().min((sides.len() / DEALT).max(1).ilog2()));
        let finer = coarse.finer(groups.bits() - coarse.bits());
        let Some(finer) = finer.filter(|_| sides.len() > CACHED) else { return self.deal(node, groups, sides, take) };
        // First to groups that fit a core's cache. Dealing them further fills the place from which they came.
        let mut all = Vec::new();
        sides.deal(coarse, &mut self.ends, 0, &mut all);
        all.into_iter().try_for_each(|group| self.deal(node, finer, &mut sides.group(group), take))?;
        if sides.right.is_some() {
            // Groups without fingerprints of both sides were not dealt further.
            sides.restore();
        }
        Ok(())
    }

    /// Compares the fingerprints of each group, or divides the groups further.
    fn deal(&mut self, node: &Node<F>, groups: Groups<F>, sides: &mut Sides<'_, F>, take: Take<'_, F>) -> Step {
        let (by_themselves, seen) = reach(sides, groups);
        let mut longer = Vec::new();
        sides.deal(groups, &mut self.ends, seen, &mut longer);
        if self.groups(node, sides, (&longer, by_themselves), groups.is_exact(), take)? {
            sides.restore();
        }
        Ok(())
    }

    /// Compares the fingerprints of each group in the buffers, or divides the groups further; returns whether it has
    /// divided any. The `longer` groups are those beyond the reach of [`reach`].
    fn groups(
        &mut self,
        node: &Node<F>,
        sides: &mut Sides<'_, F>,
        (longer, by_themselves): (&[[Range<usize>; 2]], bool),
        exact: bool,
        take: Take<'_, F>,
    ) -> std::result::Result<bool, Stop> {
        let small = if by_themselves && sides.right.is_none() && F::WORDS == 1 { SMALL_WITHIN } else { SMALL };
        let large = |group: &&[Range<usize>; 2]| total(group) > small;
        if !by_themselves {
            let mut from = 0;
            for [group, _] in longer.iter().filter(large) {
                self.neighbours(node, sides, from..group.start, take)?;
                from = group.end;
            }
            self.neighbours(node, sides, from..sides.len(), take)?;
        }
        for group in longer.iter().filter(|group| !large(group)) {
            self.small(sides, group, by_themselves);
            if self.found.len() >= CHUNK {
                self.hand_on(node, take)?;
            }
        }
        self.hand_on(node, take)?;
        let mut divided = false;
        for group in longer.iter().filter(large) {
            divided = true;
            self.join(node, sides.group(group.clone()), exact, None, take)?;
        }
        Ok(divided)
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

    /// The pairs of a small group in the buffers: all, or those that are no neighbours.
    fn small(&mut self, sides: &Sides<'_, F>, [left, right]: &[Range<usize>; 2], all: bool) {
        let lefts = sides.left.buffer.get(left.start..).unwrap_or_default();
        let group = lefts.get(..left.len()).unwrap_or_default();
        if let Some(side) = &sides.right {
            let right = side.buffer.get(right.clone()).unwrap_or_default();
            near_across(group, right, self.k, &mut self.found);
        } else if all {
            near_within(lefts, group.len(), self.k, &mut self.found);
        } else {
            let mut rest = group;
            while let Some((one, others)) = rest.split_first() {
                let far = others.get(REACH..).unwrap_or_default();
                near_across(std::slice::from_ref(one), far, self.k, &mut self.found);
                rest = others;
            }
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

/// Whether groups are compared by themselves, and how long those are that need no comparisons of their own. Many groups
/// are tiny, and a branch at the end of each would be mispredicted: so neighbours are compared even across groups, and
/// only fingerprints beyond that reach are compared group by group.
fn reach<F: Fingerprint>(sides: &Sides<'_, F>, groups: Groups<F>) -> (bool, usize) {
    let by_themselves = sides.right.is_some() || sides.len() / groups.count() > REACH;
    (by_themselves, if by_themselves { 1 } else { REACH + 1 })
}

/// The runs of more than `seen` fingerprints that agree in some bits, by which all are sorted.
fn runs<F: Fingerprint>(sorted: &[F], bits: F, seen: usize) -> Vec<[Range<usize>; 2]> {
    let (mut runs, mut from) = (Vec::new(), 0);
    let agrees = |one: F, other: &F| !mask::meet(mask::xor(one, *other), bits);
    while let (Some(&one), Some(other)) = (sorted.get(from), sorted.get(from + seen)) {
        let mut to = from + 1;
        if agrees(one, other) {
            let rest = sorted.get(from + seen..).unwrap_or_default();
            to = from + seen + rest.iter().take_while(|&other| agrees(one, other)).count();
            runs.push([from..to, 0..0]);
        }
        from = to;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::sides::Side;
    use crate::plan::mix;

    /// The pairs that a join of more fingerprints than a core's cache holds hands on, in order.
    fn joined(
        mut left: Vec<u64>,
        mut right: Option<Vec<u64>>,
        node: &Node<u64>,
        exact: bool,
        sorted: Option<Order>,
    ) -> Vec<(u64, u64)> {
        let (mut buffer, mut right_buffer) = (vec![0; left.len()], vec![0; right.as_ref().map_or(0, Vec::len)]);
        let within = right.is_none();
        let right = right.as_mut().map(|right| Side { fingerprints: right, buffer: &mut right_buffer });
        let sides = Sides { left: Side { fingerprints: &mut left, buffer: &mut buffer }, right };
        assert!(sides.len() > CACHED);
        let mut all = Vec::new();
        let mut take = |pairs: &[(u64, u64)]| {
            all.extend_from_slice(pairs);
            Ok(())
        };
        Joiner::new(3, within).join(node, sides, exact, sorted, &mut take).unwrap();
        all.sort_unstable();
        all
    }

    #[test]
    fn longer_runs_of_equal_bits_are_found() {
        let of_lengths = |lengths: &[usize]| -> Vec<u64> {
            (0..)
                .zip(lengths)
                .flat_map(|(value, &length)| (0..length as u64).map(move |low| value << 8 | low))
                .collect()
        };
        let found = |lengths: &[usize], seen| -> Vec<Range<usize>> {
            runs(&of_lengths(lengths), !255, seen).into_iter().map(|[run, _]| run).collect()
        };
        assert_eq!(found(&[1, 4, 5, 1, 2, 6], 4), [5..10, 13..19]);
        assert_eq!(found(&[1, 4, 5, 1, 2, 6], 1), [1..5, 5..10, 11..13, 13..19]);
        assert_eq!(found(&[4], 4), []);
        assert_eq!(found(&[9], 4), [Range { start: 0, end: 9 }]);
    }

    #[test]
    fn groups_beyond_a_cores_cache_have_the_same_pairs() {
        // Uniform, of few leading parts, and with families: dealing them once leaves groups of every size.
        for constant in [0, 8, 30] {
            let one = |number: u64| mix(number) >> constant;
            let near = |number: u64| one(number) ^ 1 << (number % 34) ^ 1 << (number % 31);
            let ones: Vec<u64> = (0..15_000).map(one).collect();
            let others: Vec<u64> = (0..5000).map(near).collect();
            let all = [&*ones, &*others].concat();
            let node = Node::root(3);
            let mut within = Vec::new();
            for (place, &a) in all.iter().enumerate() {
                let near = all[place + 1..].iter().filter(|b| (a ^ **b).count_ones() <= 3);
                within.extend(near.map(|&b| (a.min(b), a.max(b))));
            }
            within.sort_unstable();
            assert!(within.len() >= 5000);
            let across = ones
                .iter()
                .flat_map(|&a| others.iter().filter(move |b| (a ^ **b).count_ones() <= 3).map(move |&b| (a, b)));
            let mut across: Vec<_> = across.collect();
            across.sort_unstable();
            for exact in [false, true] {
                let right = Some(others.clone());
                assert!(joined(all.clone(), None, &node, exact, None) == within, "{constant} constant bits, {exact}");
                assert!(joined(ones.clone(), right, &node, exact, None) == across, "{constant}, {exact}");
                let mut sorted = all.clone();
                sorted.sort_unstable();
                let found = joined(sorted, None, &node, exact, Some(Order::ASCENDING));
                assert!(found == within, "sorted, {constant}, {exact}");
            }
        }
    }
}
