//! Sets that threads unite without locks.
//!
//! Every element points to another one of its set, the root to itself. An element points only to smaller numbers, so
//! there are no cycles, and the root is the least number of a set in any order of unions. Lookups halve the paths
//! (Tarjan and van Leeuwen, "Worst-case analysis of set union algorithms", 1984). Anderson and Woll, "Wait-free
//! parallel algorithms for the union-find problem", 1991, prove that linking by one compare-and-swap is correct.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

#[derive(Debug)]
pub(crate) struct UnionFind {
    parents: Vec<AtomicU32>,
}

impl UnionFind {
    pub(crate) fn new(count: u32) -> Self {
        Self { parents: (0..count).map(AtomicU32::new).collect() }
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.parents.len()).unwrap_or(u32::MAX)
    }

    /// For each number a member of its set that is not greater, while no thread unites sets.
    pub(crate) fn parents(&self) -> impl Iterator<Item = u32> {
        self.parents.iter().map(|parent| parent.load(Relaxed))
    }

    pub(crate) fn unite(&self, mut a: u32, mut b: u32) {
        loop {
            (a, b) = (self.root(a), self.root(b));
            if a == b {
                return;
            }
            let (low, high) = (a.min(b), a.max(b));
            // Fails if another thread was faster: `high` is no root any more.
            if self.parent(high).is_none_or(|parent| parent.compare_exchange(high, low, Relaxed, Relaxed).is_ok()) {
                return;
            }
        }
    }

    fn parent(&self, of: u32) -> Option<&AtomicU32> {
        self.parents.get(of as usize)
    }

    fn root(&self, mut of: u32) -> u32 {
        while let Some(parent) = self.parent(of) {
            let above = parent.load(Relaxed);
            let Some(next) = self.parent(above).map(|parent| parent.load(Relaxed)) else { break };
            if next == above {
                return above;
            }
            // If it fails, another thread has moved it nearer to the root.
            let _ = parent.compare_exchange(above, next, Relaxed, Relaxed);
            of = next;
        }
        of
    }

    /// As [`UnionFind::parents`].
    pub(crate) fn into_parents(self) -> Vec<u32> {
        self.parents.into_iter().map(AtomicU32::into_inner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_are_those_of_repeated_minima(count in 1u32..200, links in prop::collection::vec((0u32..200, 0u32..200), 0..300)) {
            let links: Vec<_> = links.into_iter().map(|(a, b)| (a % count, b % count)).collect();
            let sets = UnionFind::new(count);
            std::thread::scope(|scope| {
                for chunk in links.chunks(100) {
                    scope.spawn(|| chunk.iter().for_each(|&(a, b)| sets.unite(a, b)));
                }
            });
            let mut expected: Vec<u32> = (0..count).collect();
            for _ in 0..count {
                for &(a, b) in &links {
                    let least = expected[a as usize].min(expected[b as usize]);
                    (expected[a as usize], expected[b as usize]) = (least, least);
                }
            }
            prop_assert_eq!((0..count).map(|one| sets.root(one)).collect::<Vec<_>>(), expected);
        }
    }
}
