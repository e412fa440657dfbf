//! The component of each number, after all pairs were united.

use crate::bitset::Bitset;

const ALONE: u32 = u32::MAX;

/// The components, numbered from 0 in the order of their least members. A component of one member has no number.
#[derive(Debug, Default)]
pub(crate) struct Components {
    of: Vec<u32>,
    count: u32,
}

impl Components {
    /// The components of `UnionFind::parents`.
    pub(crate) fn new(mut of: Vec<u32>) -> Self {
        let mut has_others = Bitset::new(of.len());
        for (number, &parent) in (0u32..).zip(&of) {
            if parent != number {
                has_others.insert(parent as usize);
            }
        }
        let mut count = 0;
        for number in 0..of.len() {
            let Some(&parent) = of.get(number) else { break };
            // Parents are smaller, so their components are known.
            let own = if parent as usize != number {
                of.get(parent as usize).copied().unwrap_or(ALONE)
            } else if has_others.has(number) {
                count += 1;
                count - 1
            } else {
                ALONE
            };
            of.iter_mut().skip(number).take(1).for_each(|slot| *slot = own);
        }
        Self { of, count }
    }

    /// The components of positions that have the position of their component's keeper; `positions` has the position of
    /// each number, and another one for a number that is alone. A keeper whose position is `named` has a component even
    /// if it is alone.
    pub(crate) fn of_keepers(mut positions: Vec<u32>, mut keepers: Vec<u32>, named: &Bitset) -> Self {
        let (mut has_others, mut is_named) = (Bitset::new(keepers.len()), Bitset::new(keepers.len()));
        for (position, &keeper) in (0u32..).zip(&keepers) {
            if position != keeper || named.has(keeper as usize) {
                has_others.insert(keeper as usize);
            }
        }
        let mut count = 0;
        for slot in &mut positions {
            let position = *slot as usize;
            let keeper = match keepers.get(position) {
                // A keeper that has a name has it in the place of its own position.
                Some(_) if is_named.has(position) => position,
                Some(&keeper) => keeper as usize,
                None => usize::MAX,
            };
            *slot = ALONE;
            if !has_others.has(keeper) {
                continue;
            }
            if let Some(name) = keepers.get_mut(keeper) {
                if is_named.insert(keeper) {
                    *name = count;
                    count += 1;
                }
                *slot = *name;
            }
        }
        Self { of: positions, count }
    }

    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }

    /// Numbers of which some may be in components.
    pub(crate) fn numbers(&self) -> usize {
        self.of.len()
    }

    /// Keeps these components only; they are numbered anew, in the same order.
    pub(crate) fn retain(&mut self, kept: &Bitset) {
        let mut names = vec![ALONE; self.count()];
        self.count = 0;
        for (component, name) in names.iter_mut().enumerate() {
            if kept.has(component) {
                *name = self.count;
                self.count += 1;
            }
        }
        if self.count == 0 {
            self.of = Vec::new();
        }
        for slot in &mut self.of {
            *slot = names.get(*slot as usize).copied().unwrap_or(ALONE);
        }
    }

    /// The component of a number, if it has other members.
    #[inline]
    pub(crate) fn of(&self, number: u32) -> Option<usize> {
        self.of
            .get(number as usize)
            .copied()
            .filter(|&component| component != ALONE)
            .map(|component| component as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::union_find::UnionFind;

    #[test]
    fn components_are_numbered_by_their_least_members() {
        let sets = UnionFind::new(9);
        for (a, b) in [(8, 3), (5, 4), (3, 5), (7, 1)] {
            sets.unite(a, b);
        }
        let components = Components::new(sets.into_parents());
        let of: Vec<Option<usize>> = (0..9).map(|number| components.of(number)).collect();
        assert_eq!(of, [None, Some(0), None, Some(1), Some(1), Some(1), None, Some(0), Some(1)]);
        assert_eq!((components.count(), components.of(9)), (2, None));

        let mut some = components;
        some.retain(&Bitset::of(2, |component| component == 1));
        let of: Vec<Option<usize>> = (0..9).map(|number| some.of(number)).collect();
        assert_eq!(of, [None, None, None, Some(0), Some(0), Some(0), None, None, Some(0)]);
        some.retain(&Bitset::new(1));
        assert_eq!((some.count(), some.numbers(), some.of(3)), (0, 0, None));
    }

    #[test]
    fn components_of_keepers() {
        const NONE: u32 = u32::MAX;
        let mut named = Bitset::new(5);
        for component in [None, Some(2)] {
            let components = Components::of_keepers(vec![3, NONE, 0, 1, 4, 2], vec![0, 1, 0, 1, 4], &named);
            let of: Vec<Option<usize>> = (0..6).map(|number| components.of(number)).collect();
            assert_eq!(of, [Some(0), None, Some(1), Some(0), component, Some(1)]);
            assert_eq!(components.count(), 2 + usize::from(component.is_some()));
            named.insert(4);
        }
    }
}
