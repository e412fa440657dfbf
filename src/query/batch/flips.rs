//! The prefixes that queries ask for in a range.
//!
//! A prefix begins with the bits that all keys of the range share. A query with the same leading bits may flip any of
//! the other bits within the radius. A query that differs in some leading bits has to flip exactly these, and has fewer
//! flips left. Flips of the last six bits stay in one word of the bitmap and are made all at once.

use crate::fingerprint::Fingerprint;
use crate::plan::masks::masks;
use crate::query::batch::marks::WORD_BITS;
use crate::query::batch::queries::{LEAD, SortedQueries};
use crate::query::batch::ranges::KeyRange;

/// The flips of a range's prefixes.
#[derive(Debug, Default)]
pub(crate) struct Flips {
    /// The shared bits, further bits and radius that they are for.
    made_for: Option<(u32, u32, u32)>,
    outer: Vec<u64>,
    /// Flips of a word's number, by the number of flips.
    words: Vec<Vec<u32>>,
    /// By maximum number of flips: for each place in a word, the places that this many flips reach.
    places: Vec<[u64; 64]>,
    /// Number of choices, by maximum number of flips.
    counts: Vec<u64>,
}

impl Flips {
    pub(crate) fn prepare(&mut self, range: &KeyRange, radius: u32) {
        let bits = range.prefix - range.common;
        let wanted = Some((range.common, bits, radius));
        if self.made_for == wanted {
            return;
        }
        let inside = bits.min(WORD_BITS);
        self.outer = masks(range.common, radius);
        self.words = vec![Vec::new(); radius as usize + 1];
        for mask in masks(bits - inside, radius) {
            let level = self.words.get_mut(mask.count_ones() as usize);
            level.into_iter().for_each(|level| level.push(mask.bits(0, bits - inside) as u32));
        }
        let within = |place: u64, flips: u32| {
            let others = (0..1u64 << inside).filter(|other| (other ^ place).count_ones() <= flips);
            others.fold(0, |places, other| places | 1 << other)
        };
        self.places = (0..=radius).map(|flips| std::array::from_fn(|place| within(place as u64, flips))).collect();
        let all = masks(bits, radius);
        let up_to = |flips: u32| all.partition_point(|mask| mask.count_ones() <= flips) as u64;
        self.counts = (0..=radius).map(up_to).collect();
        self.made_for = wanted;
    }

    /// Number of prefixes that queries ask for in the range.
    pub(crate) fn count(&self, range: &KeyRange, sorted: &SortedQueries) -> u64 {
        let count = |mask: &u64| {
            let (_, run) = sorted.run(range.first ^ mask, range.common);
            let left = self.counts.len().saturating_sub(1 + mask.count_ones() as usize);
            run.len() as u64 * self.counts.get(left).copied().unwrap_or(0)
        };
        self.outer.iter().map(count).sum()
    }

    /// Calls `visit` with a word of a bitmap, places in it, and the position of the query that asks for these prefixes.
    /// Visits no place twice for a query.
    #[inline]
    pub(crate) fn each(&self, range: &KeyRange, sorted: &SortedQueries, mut visit: impl FnMut(u32, u64, usize)) {
        let down = LEAD - (range.prefix - range.common);
        for &mask in &self.outer {
            let (at, run) = sorted.run(range.first ^ mask, range.common);
            let left = self.places.len().saturating_sub(mask.count_ones() as usize);
            let places = self.places.get(..left).unwrap_or_default();
            // Flips of the word's number leave fewer flips within the word.
            for (words, places) in self.words.iter().zip(places.iter().rev()) {
                let own = |lead: u32| {
                    let place = lead.checked_shl(range.common).unwrap_or(0).checked_shr(down).unwrap_or(0);
                    (place >> WORD_BITS, places.get(place as usize % 64).copied().unwrap_or(0))
                };
                // No flip: the only case of most queries.
                if let [0] = words[..] {
                    for (&lead, at) in run.iter().zip(at..) {
                        let (word, places) = own(lead);
                        visit(word, places, at);
                    }
                    continue;
                }
                for (&lead, at) in run.iter().zip(at..) {
                    let (word, places) = own(lead);
                    words.iter().for_each(|flip| visit(word ^ flip, places, at));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::low_mask;
    use crate::fingerprint::leading_ones;
    use crate::plan::Design;
    use crate::query::batch::marks::Marks;
    use std::collections::BTreeSet;

    #[test]
    fn every_prefix_in_a_range_is_visited_once() {
        let queries: Vec<u64> = (1..=3000).map(|number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let sorted = SortedQueries::new(&queries, &Design::Tables { parts: 1 }.tables(64).unwrap()[0].permutation);
        for (common, prefix, radius) in [(0, 9, 1), (5, 5, 1), (4, 16, 0), (4, 16, 1), (3, 12, 2), (6, 9, 3), (2, 8, 9)]
        {
            let first = queries[7] & leading_ones(common);
            let range = KeyRange { first, common, prefix, blocks: 0..1 };
            let mut flips = Flips::default();
            flips.prepare(&range, radius);
            let mut visited = BTreeSet::new();
            let mut marks = Marks::default();
            flips.each(&range, &sorted, |word, places, at| {
                marks.set(word, places);
                for place in (0..64).filter(|place| places >> place & 1 == 1) {
                    assert!(visited.insert((u64::from(word) * 64 + place, sorted.number(at))), "twice");
                }
            });
            let mut wanted = BTreeSet::new();
            for (number, query) in (0..).zip(&queries) {
                for mask in masks(prefix, radius) {
                    let key = query ^ mask;
                    if (key ^ first).leading_zeros() >= common {
                        wanted.insert((key >> (64 - prefix) & low_mask(prefix - common), number));
                    }
                }
            }
            assert_eq!(visited, wanted, "{common} {prefix} {radius}");
            assert_eq!(flips.count(&range, &sorted), wanted.len() as u64);
            let marked: BTreeSet<u64> = wanted.iter().map(|(place, _)| *place).collect();
            for place in 0..1u64 << (prefix - common) {
                let key = place << (64 - prefix);
                let found = marks.among(&[key], 64 - prefix, low_mask(prefix - common)) == 1;
                assert_eq!(found, marked.contains(&place));
                assert!(!found || marks.any(place, place));
            }
        }
    }
}
