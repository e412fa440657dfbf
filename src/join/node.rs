//! The tree of a join, and the rule by which each pair is emitted once.
//!
//! A [`Node`] has the fingerprints that agree in some bits. Its pairs are those within the distance that differ in each
//! of the masks `apart`; the number of errors that they can have in the `free` bits is known. Cut the free bits into
//! more parts than there can be errors: a pair agrees in some part. It belongs to the child of the *first* such part,
//! so it differs in all parts before. Thus a pair of a node belongs to one of its children, and the child is a function
//! of the differing bits and of masks alone. No set of seen pairs is needed.

use super::mask;
use super::order::Order;
use crate::fingerprint::Fingerprint;
use crate::plan::Part;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node<F> {
    /// The bits in which its pairs agree. Other pairs may come along, because groups are made by hashing.
    pub(super) equal: F,
    /// The bits for the parts of the next level.
    pub(super) free: F,
    pub(super) errors: u32,
    /// A pair differs in each of these masks.
    apart: Vec<F>,
}

impl<F: Fingerprint> Node<F> {
    pub(super) fn root(k: u32) -> Self {
        Self { equal: F::default(), free: mask::all(), errors: k, apart: Vec::new() }
    }

    /// The node of a part's pairs.
    pub(super) fn of_part(part: Part) -> Self {
        let root = Self::root(part.distance());
        root.children(&root.parts(mask::all(), 1, &[])).into_iter().nth(part.number() as usize).unwrap_or(root)
    }

    /// The same pairs with other free bits: all that vary and are not equal.
    pub(super) fn anew(&self, free: F, k: u32) -> Self {
        Self { free, errors: k, ..self.clone() }
    }

    /// The parts into which its free bits are cut, of those that vary, for pairs that agree in `levels` parts. The
    /// first parts are the next bits of orders, and those after them, where that leaves the others about as many bits.
    pub(super) fn parts(&self, varying: F, levels: u32, orders: &[Order]) -> Vec<F> {
        let (mut free, mut count) = (mask::and(self.free, varying), self.errors + levels);
        let size = mask::size(free).div_ceil(count.max(1));
        let mut parts = Vec::new();
        let orders: Vec<(Order, u32)> = orders.iter().map(|order| (*order, order.leading_of(self.equal))).collect();
        let next = |round| orders.iter().filter_map(move |(order, equal)| order.bits::<F>(equal + round * size, size));
        for part in (0..count).flat_map(next) {
            let rest = mask::without(free, part);
            let is_free = mask::and(free, part) == part && size > 0 && count > 0;
            if is_free && parts.len() <= self.errors as usize && mask::size(rest) >= (count - 1) * (size - 1).max(1) {
                (free, count) = (rest, count - 1);
                parts.push(part);
            }
        }
        parts.append(&mut mask::split(free, count));
        parts
    }

    /// The children by the first of the parts in which a pair agrees: it cannot have errors in all of them.
    pub(super) fn children(&self, parts: &[F]) -> Vec<Self> {
        let mut children = Vec::new();
        let (mut apart, mut free) = (self.apart.clone(), self.free);
        for (errors, &part) in (0..=self.errors).rev().zip(parts) {
            free = mask::without(free, part);
            children.push(Self { equal: mask::or(self.equal, part), free, errors, apart: apart.clone() });
            apart.push(part);
        }
        children
    }

    /// Whether a pair of fingerprints in this node is one of its pairs.
    #[inline]
    pub(super) fn has(&self, a: F, b: F) -> bool {
        let differing = mask::xor(a, b);
        !mask::meet(differing, self.equal) && self.apart.iter().all(|&mask| mask::meet(differing, mask))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number of leaves below the node that have a pair.
    fn leaves(node: &Node<u64>, varying: u64, pair: (u64, u64), levels: &[u32]) -> usize {
        let Some((&level, rest)) = levels.split_first() else { return usize::from(node.has(pair.0, pair.1)) };
        let again = node.anew(varying & !node.equal, 3);
        let node = if level > 2 { &again } else { node };
        if mask::size(node.free & varying) < node.errors + level {
            return usize::from(node.has(pair.0, pair.1));
        }
        node.children(&node.parts(varying, level, &[])).iter().map(|child| leaves(child, varying, pair, rest)).sum()
    }

    proptest! {
        #[test]
        fn every_pair_is_in_one_leaf(
            a: u64, flips in prop::collection::btree_set(0u32..64, 1..=3), constant in 0u32..3,
            levels in prop::collection::vec(1u32..=3, 0..5),
        ) {
            // The bits that do not vary are the same in both.
            let varying = u64::MAX << (16 * constant);
            let differing = flips.iter().fold(0, |mask, bit| mask | 1u64 << bit) & varying;
            prop_assume!(differing != 0);
            prop_assert_eq!(leaves(&Node::root(3), varying, (a, a ^ differing), &levels), 1);
        }
    }
}
