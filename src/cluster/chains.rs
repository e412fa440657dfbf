//! Chains: connected components that star or complete linkage divides into several clusters.

use crate::bitset::Bitset;
use crate::cluster::components::Components;
use crate::cluster::labels::Label;
use crate::cluster::nearness::Nearnesses;

/// What single linkage would remove beyond what star or complete linkage does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chains<F = u64> {
    /// Connected components that are divided into several clusters.
    pub count: u64,
    /// The one with the most records.
    pub largest: Option<Chain<F>>,
    /// Records that are kept and that single linkage would remove.
    pub more_removed: u64,
    /// Number of these records by how near they are to the record that single linkage would keep instead.
    pub nearnesses: Nearnesses,
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

/// The connected components that star or complete linkage has divided.
#[derive(Debug)]
pub(crate) struct Divided {
    components: Components,
    /// For each component the cluster with its keeper: that is kept under any linkage, as it comes first, and its first
    /// neighbour by priority joins it.
    first: Vec<u32>,
}

impl Divided {
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

    /// Those of all connected components that have several of `clusters`; `keepers` are the numbers of the components'
    /// keepers.
    pub(crate) fn of(mut components: Components, keepers: Vec<u32>, clusters: &Components) -> Self {
        let cluster = |number: u32| clusters.of(number).and_then(|cluster| u32::try_from(cluster).ok());
        let mut first = keepers;
        first.iter_mut().for_each(|slot| *slot = cluster(*slot).unwrap_or(u32::MAX));
        let mut is_divided = Bitset::new(components.count());
        for number in (0u32..).take(components.numbers()) {
            if let Some(component) = components.of(number)
                && cluster(number) != first.get(component).copied()
            {
                is_divided.insert(component);
            }
        }
        let mut component = 0..;
        first.retain(|_| component.next().is_some_and(|component| is_divided.has(component)));
        first.shrink_to_fit();
        components.retain(&is_divided);
        Self { components, first }
    }

    pub(crate) fn count(&self) -> usize {
        self.components.count()
    }

    /// The divided component of a number.
    pub(crate) fn component(&self, number: u32) -> Option<usize> {
        self.components.of(number)
    }

    pub(crate) fn components(&self) -> &Components {
        &self.components
    }

    /// The cluster with the keeper of each component.
    pub(crate) fn all_first(&self) -> impl Iterator<Item = usize> {
        self.first.iter().map(|&cluster| cluster as usize)
    }

    /// The cluster with the keeper of a component.
    pub(crate) fn first(&self, component: usize) -> usize {
        self.first.get(component).map_or(usize::MAX, |&cluster| cluster as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_by_priority_names_the_cluster() {
        // A pair, 0 and 5; a chain of the numbers 1, 3, 4, 6 at positions 1, 0, 3, 2; number 2 is alone.
        let positions = vec![4, 1, u32::MAX, 0, 3, 5, 2];
        let components = Components::new(vec![0, 1, 2, 1, 3, 0, 4]);
        let keepers = Divided::keepers(&components, &positions);
        assert_eq!(keepers, [0, 3]);
        let clusters = Components::of_keepers(positions, vec![0, 1, 1, 0, 4, 4], &Bitset::new(0));
        assert_eq!(
            (0..7).map(|number| clusters.of(number)).collect::<Vec<_>>(),
            [0, 1, 9, 2, 2, 0, 1].map(|one| (one < 9).then_some(one))
        );
        let divided = Divided::of(components, keepers, &clusters);
        let of: Vec<_> = (0..7).map(|number| divided.component(number)).collect();
        assert_eq!(of, [None, Some(0), None, Some(0), Some(0), None, Some(0)]);
        assert_eq!((divided.count(), divided.first(0)), (1, 2));
    }
}
