//! Chains: connected components that star or complete linkage divides into several clusters.

use crate::cluster::components::Components;
use crate::cluster::labels::Label;

/// What single linkage would remove beyond what star or complete linkage does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chains<F = u64> {
    /// Connected components that are divided into several clusters.
    pub count: u64,
    /// The one with the most records.
    pub largest: Option<Chain<F>>,
    /// Records that are kept and that single linkage would remove.
    pub more_removed: u64,
    /// Number of these records by distance from the record that single linkage would keep instead: none differs in 0
    /// bits, so many in 1 bit, and so on.
    pub distances: Vec<u64>,
}

/// A connected component of several clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain<F = u64> {
    /// The record that single linkage would keep.
    pub keeper: Label<F>,
    /// Its records.
    pub records: u64,
    /// Its clusters.
    pub clusters: u64,
}

/// The connected components of fingerprints that star or complete linkage has made clusters of.
#[derive(Debug)]
pub(crate) struct Connected {
    components: Components,
    /// For each connected component the cluster with its keeper, which is kept under any linkage: it comes first, so
    /// its nearest neighbour by priority joins it.
    first: Vec<u32>,
}

impl Connected {
    /// The number of the first fingerprint by priority of each connected component; `positions` has the position of
    /// each number.
    pub(crate) fn keepers(components: &Components, positions: &[u32]) -> Vec<u32> {
        let mut keepers = vec![u32::MAX; components.count()];
        let position = |number: u32| positions.get(number as usize).copied().unwrap_or(u32::MAX);
        for number in (0u32..).take(positions.len()) {
            if let Some(keeper) = components.of(number).and_then(|component| keepers.get_mut(component))
                && position(number) < position(*keeper)
            {
                *keeper = number;
            }
        }
        keepers
    }

    /// Components with the numbers of their keepers, and the clusters of all numbers.
    pub(crate) fn new(components: Components, mut keepers: Vec<u32>, clusters: &Components) -> Self {
        for slot in &mut keepers {
            *slot = clusters.of(*slot).and_then(|cluster| u32::try_from(cluster).ok()).unwrap_or(u32::MAX);
        }
        Self { components, first: keepers }
    }

    pub(crate) fn count(&self) -> usize {
        self.components.count()
    }

    /// The connected component of a number, if it has other members.
    pub(crate) fn of(&self, number: u32) -> Option<usize> {
        self.components.of(number)
    }

    /// The cluster with the keeper of a connected component.
    pub(crate) fn first(&self, component: usize) -> usize {
        self.first.get(component).map_or(usize::MAX, |&cluster| cluster as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_by_priority_names_the_cluster() {
        // A chain of the numbers 0, 1, 3, 4 by priority 3, 0, 1, 4; number 2 is alone.
        let positions = vec![1, 2, u32::MAX, 0, 3];
        let components = Components::new(vec![0, 0, 2, 1, 3]);
        let keepers = Connected::keepers(&components, &positions);
        assert_eq!(keepers, [3]);
        let clusters = Components::of_keepers(positions, vec![0, 1, 1, 0]);
        let connected = Connected::new(components, keepers, &clusters);
        assert_eq!((connected.count(), connected.of(2), connected.of(4)), (1, None, Some(0)));
        assert_eq!(connected.first(0), 1, "0 and 1 are the cluster before it");
    }
}
