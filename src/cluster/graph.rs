//! Clusters of numbered vertices whose pairs are given, such as pairs that many machines have found.

use crate::cluster::linkage::{Linkage, Links};
use crate::cluster::union_find::UnionFind;
use crate::error::{Error, Result};

/// The keeper of each vertex, from 0 to `count - 1`, given all pairs of near ones. Vertices are numbered by priority:
/// smaller numbers are kept first. With single linkage the keeper of a component is its smallest vertex. Takes eight
/// bytes a vertex more than `pairs`, and sorts these.
///
/// ```
/// use fpstore::clusters::{Linkage, linked};
/// let mut chain = vec![(0, 1), (2, 1), (2, 3)];
/// assert_eq!(linked(Linkage::Single, 5, &mut chain)?, [0, 0, 0, 0, 4]);
/// assert_eq!(linked(Linkage::Star, 5, &mut chain)?, [0, 0, 2, 2, 4]);
/// # Ok::<(), fpstore::Error>(())
/// ```
///
/// # Errors
/// `InvalidInput` if a pair has a vertex that there is not.
pub fn linked(linkage: Linkage, count: u32, pairs: &mut [(u32, u32)]) -> Result<Vec<u32>> {
    if let Some((a, b)) = pairs.iter().find(|(a, b)| *a.max(b) >= count) {
        return Err(Error::invalid(format!("a pair of vertices {a} and {b}, but there are only {count}")));
    }
    if linkage == Linkage::Single {
        let sets = UnionFind::new(count);
        pairs.iter().for_each(|&(a, b)| sets.unite(a, b));
        let mut roots = sets.into_parents();
        // A parent is a smaller number, whose root is known by then.
        for vertex in 0..roots.len() {
            let root = roots.get(vertex).and_then(|&parent| roots.get(parent as usize)).copied();
            root.into_iter().zip(roots.get_mut(vertex)).for_each(|(root, slot)| *slot = root);
        }
        return Ok(roots);
    }
    for pair in &mut *pairs {
        *pair = (pair.0.max(pair.1), pair.0.min(pair.1));
    }
    pairs.sort_unstable();
    let mut links = Links::new(linkage, count as usize);
    let mut last = None;
    for &(later, earlier) in &*pairs {
        // A pair that comes twice would count twice.
        if later != earlier && last.replace((later, earlier)) != Some((later, earlier)) {
            links.add(later, earlier);
        }
    }
    Ok(links.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definitions, one vertex after the other.
    fn by_definition(linkage: Linkage, count: u32, pairs: &[(u32, u32)]) -> Vec<u32> {
        let near = |a: u32, b: u32| pairs.iter().any(|&pair| pair == (a, b) || pair == (b, a));
        let mut keepers: Vec<u32> = (0..count).collect();
        for vertex in 0..count {
            let members = |keeper: u32, keepers: &[u32]| -> Vec<u32> {
                (0..vertex).filter(|&one| keepers[one as usize] == keeper).collect()
            };
            let fits = |&keeper: &u32| match linkage {
                Linkage::Complete => members(keeper, &keepers).iter().all(|&one| near(one, vertex)),
                _ => near(keeper, vertex),
            };
            let keeper = (0..vertex).filter(|&one| keepers[one as usize] == one).find(fits);
            keepers[vertex as usize] = keeper.unwrap_or(vertex);
        }
        keepers
    }

    proptest! {
        #[test]
        fn clusters_are_those_of_the_definitions(count in 1u32..30, pairs in prop::collection::vec((0u32..30, 0u32..30), 0..60)) {
            let pairs: Vec<_> = pairs.into_iter().map(|(a, b)| (a % count, b % count)).collect();
            for linkage in [Linkage::Star, Linkage::Complete] {
                let found = linked(linkage, count, &mut pairs.clone()).unwrap();
                prop_assert_eq!(found, by_definition(linkage, count, &pairs));
            }
            let mut least: Vec<u32> = (0..count).collect();
            for _ in 0..count {
                for &(a, b) in &pairs {
                    let smaller = least[a as usize].min(least[b as usize]);
                    (least[a as usize], least[b as usize]) = (smaller, smaller);
                }
            }
            prop_assert_eq!(linked(Linkage::Single, count, &mut pairs.clone()).unwrap(), least);
        }
    }

    #[test]
    fn vertices_that_are_not_there_are_refused() {
        assert!(linked(Linkage::Single, 2, &mut [(0, 2)]).is_err());
        assert!(linked(Linkage::Star, 0, &mut []).unwrap().is_empty());
    }
}
