//! Linkage: the rule that makes clusters of near pairs.
//!
//! Star and complete linkage take fingerprints by priority, so [`Links`] takes the pairs of each fingerprint with those
//! of higher priority, in that order (`find_linked.rs`). Records with the same fingerprint are near each other and have
//! the same neighbours, so they are always in one cluster, and the best of them decides for all.

/// Bytes of two numbers of fingerprints: a pair, or a removed one and its keeper.
pub(crate) const PAIR_BYTES: usize = 8;

/// The rule by which near records become clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Clusters are the connected components: any two records of one are linked by a chain of near ones, and may be far
    /// from each other.
    #[default]
    Single,
    /// By priority: a record that is in no cluster yet begins one, of itself and all near records that are in none. So
    /// every member is near the keeper.
    Star,
    /// By priority: a record joins the cluster of highest priority all of whose members are near it, or begins one. So
    /// all members are near each other.
    Complete,
}

impl Linkage {
    /// Bytes of memory a fingerprint, beside a bit or two: its position by priority, the position of its keeper, and
    /// the number of a cluster's members.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Single => 4,
            Self::Star => 8,
            Self::Complete => 12,
        }
    }
}

/// The keeper of each position. Takes pairs in order, and decides on a position when the pairs of the next one come.
pub(crate) struct Links {
    keepers: Vec<u32>,
    /// For complete linkage, the number of members by the position of the keeper.
    sizes: Vec<u32>,
    current: u32,
    /// For star linkage, at most the first of the current position's neighbours that is a keeper; for complete linkage
    /// the keepers of all its neighbours.
    near: Vec<u32>,
}

impl Links {
    #[expect(clippy::cast_possible_truncation, reason = "numbers of fingerprints, which fit 32 bits")]
    pub(crate) fn new(linkage: Linkage, members: usize) -> Self {
        let sizes = if linkage == Linkage::Complete { vec![1; members] } else { Vec::new() };
        Self { keepers: (0..members as u32).collect(), sizes, current: 0, near: Vec::new() }
    }

    /// Takes the positions of a pair.
    pub(crate) fn add(&mut self, later: u32, earlier: u32) {
        if later != self.current {
            self.decide();
            self.current = later;
        }
        let keeper = self.keepers.get(earlier as usize).copied().unwrap_or(earlier);
        if !self.sizes.is_empty() || (self.near.is_empty() && keeper == earlier) {
            self.near.push(keeper);
        }
    }

    fn decide(&mut self) {
        self.near.sort_unstable();
        let size = |keeper: u32| self.sizes.get(keeper as usize).map_or(1, |&size| size as usize);
        let found = self.near.chunk_by(|a, b| a == b).find_map(|same| match same {
            [keeper, ..] if same.len() == size(*keeper) => Some(*keeper),
            _ => None,
        });
        self.near.clear();
        if let (Some(keeper), Some(slot)) = (found, self.keepers.get_mut(self.current as usize)) {
            *slot = keeper;
            self.sizes.get_mut(keeper as usize).into_iter().for_each(|size| *size += 1);
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u32> {
        self.decide();
        self.keepers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(linkage: Linkage, members: usize, pairs: &[(u32, u32)]) -> Vec<u32> {
        let mut links = Links::new(linkage, members);
        pairs.iter().for_each(|&(later, earlier)| links.add(later, earlier));
        links.finish()
    }

    #[test]
    fn a_chain_by_position() {
        let chain = [(1, 0), (2, 1), (3, 2), (4, 3)];
        assert_eq!(linked(Linkage::Star, 5, &chain), [0, 0, 2, 2, 4]);
        assert_eq!(linked(Linkage::Complete, 5, &chain), [0, 0, 2, 2, 4]);
    }

    #[test]
    fn members_near_the_keeper_or_near_each_other() {
        // 1 and 2 are near 0, and far from each other; 3 is near all.
        let pairs = [(1, 0), (2, 0), (3, 0), (3, 1), (3, 2)];
        assert_eq!(linked(Linkage::Star, 4, &pairs), [0, 0, 0, 0]);
        assert_eq!(linked(Linkage::Complete, 4, &pairs), [0, 0, 2, 0]);
    }
}
