//! The partial views of the nodes: each client knows a random half.

/// The numbers of the nodes that each of some clients knows: half of `nodes`, rounded up, in ascending order. The same
/// seed gives the same views.
pub(super) fn views(nodes: u32, views: u32, seed: u64) -> Vec<Vec<u32>> {
    let mut random = Random(seed);
    let view = |_| {
        let mut numbers: Vec<u32> = (0..nodes).collect();
        for place in (1..numbers.len()).rev() {
            numbers.swap(place, random.below(place as u64 + 1));
        }
        numbers.truncate(nodes.div_ceil(2) as usize);
        numbers.sort_unstable();
        numbers
    };
    (0..views).map(view).collect()
}

/// The generator SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = mixed ^ mixed >> 31;
        usize::try_from(mixed % end.max(1)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::views;

    #[test]
    fn halves_repeat_with_their_seed() {
        let found = views(7, 20, 1);
        assert!(found.iter().all(|view| view.len() == 4 && view.is_sorted() && view.iter().all(|node| *node < 7)));
        assert_eq!(found, views(7, 20, 1));
        assert_ne!(found, views(7, 20, 2));
        assert_eq!(views(1, 2, 3), [[0], [0]]);
    }
}
