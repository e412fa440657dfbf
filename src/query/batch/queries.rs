//! The queries of a batch in the order of a table.

use crate::extsort::radix;
use crate::fingerprint::{Fingerprint, leading_ones};
use crate::plan::Permutation;

/// Leading bits by which queries are sorted. Only a table of billions of keys would need more.
pub(crate) const LEAD: u32 = 32;

/// The queries sorted by their leading bits, with a directory.
#[derive(Debug)]
pub(crate) struct SortedQueries {
    /// The [`LEAD`] leading bits of each permuted query.
    leads: Vec<u32>,
    numbers: Vec<u32>,
    /// Leading bits that number the directory's slots.
    bits: u32,
    /// Number of queries before each slot; at the end, of all.
    starts: Vec<u32>,
}

impl SortedQueries {
    /// Sorts fewer than 2^32 queries.
    pub(crate) fn new<F: Fingerprint>(queries: &[F], permutation: &Permutation) -> Self {
        let entry = |number, &query: &F| permutation.head(query) & leading_ones(LEAD) | number as u64;
        let entries = radix::sorted(queries, entry, |&entry| entry);
        // Some sixteen queries a slot, if they are spread evenly.
        let bits = entries.len().max(1).ilog2().saturating_sub(4).clamp(1, 20);
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        for (number, &entry) in (0..).zip(&entries) {
            let slot = (entry >> (64 - bits)) as usize;
            if starts.len() <= slot {
                starts.resize(slot + 1, number);
            }
        }
        starts.resize((1 << bits) + 1, entries.len() as u32);
        let leads = entries.iter().map(|entry| (entry >> LEAD) as u32).collect();
        let numbers = entries.iter().map(|&entry| entry as u32).collect();
        Self { leads, numbers, bits, starts }
    }

    /// The position and the leading bits of the queries whose first `length` (0 to [`LEAD`]) bits are those of `first`,
    /// which has no other bits set.
    #[inline]
    pub(crate) fn run(&self, first: u64, length: u32) -> (usize, &[u32]) {
        let last = first | !leading_ones(length);
        let start = |slot: u64| self.starts.get(slot as usize).map_or(0, |&start| start as usize);
        let down = 64 - self.bits;
        let (mut from, mut to) = (start(first >> down), start((last >> down) + 1));
        if length > self.bits {
            let (first, last) = ((first >> LEAD) as u32, (last >> LEAD) as u32);
            let inside = self.leads.get(from..to).unwrap_or_default();
            to = from + inside.partition_point(|&lead| lead <= last);
            from += inside.partition_point(|&lead| lead < first);
        }
        (from, self.leads.get(from..to).unwrap_or_default())
    }

    #[inline]
    pub(crate) fn number(&self, at: usize) -> u32 {
        self.numbers.get(at).copied().unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::low_mask;
    use crate::plan::Design;
    use std::collections::BTreeSet;

    #[test]
    fn runs_are_the_queries_with_a_prefix() {
        let permutation = Design::Tables { parts: 1 }.tables(64).unwrap()[0].permutation.clone();
        for (count, zeros) in [(0, 0), (1, 0), (100, 0), (5000, 0), (5000, 30)] {
            let queries: Vec<u64> =
                (1..=count).map(|number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> zeros).collect();
            let sorted = SortedQueries::new(&queries, &permutation);
            for length in 0..=LEAD {
                let prefix = |query: u64| query.checked_shr(64 - length).unwrap_or(0);
                let asked = queries.iter().take(30).map(|&query| prefix(query));
                for asked in asked.chain([0, 1 & low_mask(length), low_mask(length)]) {
                    let (at, run) = sorted.run(asked.checked_shl(64 - length).unwrap_or(0), length);
                    let found: BTreeSet<u32> = (at..at + run.len()).map(|at| sorted.number(at)).collect();
                    let wanted = (0..).zip(&queries).filter(|&(_, &query)| prefix(query) == asked);
                    assert_eq!(found, wanted.map(|(number, _)| number).collect(), "{count} {zeros} {length} {asked:x}");
                }
            }
        }
    }
}
