//! The parts of merging against their plain meaning.

use crate::plan::Design;
use crate::plan::masks::masks;
use crate::query::batch::flips::Flips;
use crate::query::batch::marks::Marks;
use crate::query::batch::queries::SortedQueries;
use crate::query::batch::ranges::KeyRange;
use std::collections::BTreeSet;

fn queries(count: u64, shift: u32) -> Vec<u64> {
    (1..=count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift).collect()
}

/// The identity for evenly spread queries; half a rotation for those with leading zeros.
fn sorted(queries: &[u64]) -> SortedQueries {
    let tables = Design::Tables { parts: 1 }.tables(64).unwrap();
    SortedQueries::new(queries, &tables[0].permutation)
}

#[test]
fn runs_are_the_queries_with_a_prefix() {
    for (count, shift) in [(0, 0), (1, 0), (100, 0), (5000, 0), (5000, 30)] {
        let queries = queries(count, shift);
        let sorted = sorted(&queries);
        for length in [0, 1, 5, 12, 31, 32] {
            let down = |query: u64| query.checked_shr(64 - length).unwrap_or(0);
            for prefix in queries.iter().take(50).map(|&query| down(query)).chain([0, low(length)]) {
                let (at, run) = sorted.run(prefix.checked_shl(64 - length).unwrap_or(0), length);
                let found: BTreeSet<u32> = (at..at + run.len()).map(|at| sorted.number(at)).collect();
                let wanted = (0..).zip(&queries).filter(|(_, query)| down(**query) == prefix).map(|(number, _)| number);
                assert_eq!(found, wanted.collect(), "{count} {shift} {length} {prefix:x}");
            }
        }
    }
}

fn low(bits: u32) -> u64 {
    crate::bits::low_mask(bits)
}

#[test]
fn every_prefix_in_a_range_is_visited_once() {
    let queries = queries(3000, 0);
    let sorted = sorted(&queries);
    for (common, prefix, radius) in [(0, 9, 1), (5, 5, 1), (4, 16, 0), (4, 16, 1), (3, 12, 2), (6, 9, 3), (2, 8, 9)] {
        let first = queries[7] & crate::fingerprint::leading_ones(common);
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
                    wanted.insert((key >> (64 - prefix) & low(prefix - common), number));
                }
            }
        }
        assert_eq!(visited, wanted, "{common} {prefix} {radius}");
        assert_eq!(flips.count(&range, &sorted), wanted.len() as u64);
        let marked: BTreeSet<u64> = wanted.iter().map(|(place, _)| *place).collect();
        for place in 0..1u64 << (prefix - common) {
            let key = place << (64 - prefix);
            let found = marks.among(&[key], 64 - prefix, low(prefix - common)) == 1;
            assert_eq!(found, marked.contains(&place));
            assert!(!found || marks.any(place, place));
        }
    }
}
