//! The cost of merging a sorted batch of queries with a table, as an alternative to probing.

use super::masks::number_of_masks;
use super::probing::Shape;
use super::{TableForm, Timings};

/// Most flipped prefixes a query.
const MOST_FLIPS: f64 = 50_000.0;

/// Bits of a prefix beyond log2 of the table's keys.
const SPARE_BITS: u32 = 5;

/// Time to sort a query by a table's keys, in nanoseconds; as all times here measured on a million queries.
const SORT: f64 = 60.0;

/// Time to make a prefix twice, to mark it, and to look a key up by it.
const PROBE: f64 = 6.0;

/// Time to check whether a decoded key's prefix is marked.
const KEY: f64 = 1.7;

/// Time to skip a block without marks.
const SKIP: f64 = 8.0;

/// Time to compare a query with a key that has one of its prefixes.
const MEET: f64 = 40.0;

const LONGEST: u32 = 32;

/// The longest prefix with at most [`MOST_FLIPS`] flips in a table with this many leading bits.
pub(crate) fn longest_prefix(leading: u32, radius: u32) -> u32 {
    (0..=leading.min(LONGEST)).rev().find(|&prefix| number_of_masks(prefix, radius) <= MOST_FLIPS).unwrap_or(0)
}

/// Nanoseconds of one thread to merge queries with a table within `radius`. `covered` returns the blocks that the keys
/// with one prefix of a length cover.
pub(crate) fn nanos(shape: Shape, radius: u32, queries: f64, covered: impl Fn(u32) -> f64) -> f64 {
    let needed = (shape.keys.max(1.0).log2() as u32).saturating_add(SPARE_BITS);
    let prefix = longest_prefix(shape.leading, radius).min(needed);
    let keys_per_block = shape.keys / shape.blocks.max(1.0);
    let probes = queries * number_of_masks(prefix, radius);
    let met = probes * covered(prefix) * keys_per_block;
    let blocks = (probes * (1.0 + covered(prefix))).min(shape.blocks);
    let Timings { key, next_block, row, .. } = Timings::IN_USE;
    let compared = if shape.form == TableForm::Full { 0.0 } else { row };
    queries * SORT
        + probes * PROBE
        + shape.blocks * SKIP
        + blocks * (next_block + keys_per_block * (key + KEY))
        + met * (MEET + compared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::probing::{choose, evenly};

    fn shape(keys: f64) -> Shape {
        Shape { blocks: keys / 50.0, keys, leading: 32, form: TableForm::Full, width: 64, filter: None, distance: 3 }
    }

    fn pays(keys: f64, queries: f64, radius: u32) -> bool {
        let covered = || evenly(keys / 50.0);
        nanos(shape(keys), radius, queries, covered()) < queries * choose(shape(keys), radius, covered()).nanos
    }

    #[test]
    fn large_batches_are_merged_and_small_ones_probe() {
        for radius in 1..=3 {
            assert!(pays(1e8, 1e6, radius), "{radius}");
            assert!(!pays(1e8, 10.0, radius), "{radius}");
        }
        // Within radius 0 a million queries need less than half of the blocks.
        assert!(pays(1e8, 1e7, 0) && !pays(1e8, 1e5, 0));
        assert!(pays(1e6, 1e5, 1) && !pays(1e9, 1000.0, 1));
    }

    #[test]
    fn prefixes_are_shorter_where_radii_are_wide() {
        assert_eq!((longest_prefix(64, 1), longest_prefix(28, 1), longest_prefix(64, 3)), (32, 28, 32));
        assert!((15..20).contains(&longest_prefix(64, 6)));
        assert_eq!(longest_prefix(64, 64), 15);
        assert_eq!(longest_prefix(0, 3), 0);
    }
}
