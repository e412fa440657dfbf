//! The prefixes that queries ask for in a range.
//!
//! A prefix begins with the bits that all keys of the range share. A query whose own bits there are the same may flip any
//! bits of the rest within the radius; one that differs in some of them has to flip just these, and has the fewer left.
//! Of the rest, flips of the last six bits stay in one word of a bitmap, and are made all at once.

use crate::plan::masks::masks;
use crate::query::batch::marks::WORD_BITS;
use crate::query::batch::queries::{LEAD, SortedQueries};
use crate::query::batch::ranges::KeyRange;

/// The flips of a range's prefixes.
#[derive(Debug, Default)]
pub(crate) struct Flips {
    /// What they were made for: shared bits, further bits, radius.
    made_for: Option<(u32, u32, u32)>,
    /// Flips of the shared bits.
    outer: Vec<u64>,
    /// By number of flips: those of a word's number.
    words: Vec<Vec<u32>>,
    /// By greatest number of flips: for each place in a word those that at most so many flips lead to.
    places: Vec<[u64; 64]>,
    /// By greatest number of flips: how many choices of them there are.
    counts: Vec<u64>,
}

impl Flips {
    /// Makes those of a range.
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
            level.into_iter().for_each(|level| level.push(leading(mask, bits - inside)));
        }
        let within = |place: u64, flips: u32| {
            let others = (0..1u64 << inside).filter(|other| (other ^ place).count_ones() <= flips);
            others.fold(0, |places, other| places | 1 << other)
        };
        let place = |number: usize| number as u64;
        self.places = (0..=radius).map(|flips| std::array::from_fn(|number| within(place(number), flips))).collect();
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

    /// Calls `visit` with a word of a bitmap, places in it, and where the query stands that asks for the prefixes there.
    /// No place is visited twice for a query.
    #[inline]
    pub(crate) fn each(&self, range: &KeyRange, sorted: &SortedQueries, mut visit: impl FnMut(u32, u64, usize)) {
        let down = LEAD - (range.prefix - range.common);
        for &mask in &self.outer {
            let (at, run) = sorted.run(range.first ^ mask, range.common);
            let left = self.places.len().saturating_sub(mask.count_ones() as usize);
            let places = self.places.get(..left).unwrap_or_default();
            // With as many flips of the word, so many are left within it.
            for (words, places) in self.words.iter().zip(places.iter().rev()) {
                let own = |lead: u32| {
                    let place = lead.checked_shl(range.common).unwrap_or(0).checked_shr(down).unwrap_or(0);
                    (place >> WORD_BITS, places.get(place as usize % 64).copied().unwrap_or(0))
                };
                // That of no flip: the only one of most queries.
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

/// The `bits` leading bits as a number.
#[inline]
fn leading(word: u64, bits: u32) -> u32 {
    word.checked_shr(64 - bits).unwrap_or(0) as u32
}
