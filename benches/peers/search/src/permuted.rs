//! The two permuted tables of a user of an ordered key-value store, and their queries.
//!
//! Table 0 has the fingerprints as keys, table 1 the fingerprints rotated by 32 bits. If two fingerprints differ in at
//! most k bits, one of their halves differs in at most k / 2 of them. So the ranges of all keys whose first half is the
//! query's, with at most that many bits flipped, contain all answers: for k = 3, 33 ranges of each table.

use crate::peer::{Result, Searcher};
use rdst::RadixSort;
use std::ops::RangeInclusive;

const HALF: u32 = 32;

/// The sorted keys of both tables, sorted on all cores or on one.
pub(crate) fn sorted(values: Vec<u64>, all_cores: bool) -> [Vec<u64>; 2] {
    let mut tables = [values.iter().map(|value| value.rotate_left(HALF)).collect(), values];
    tables.reverse();
    for table in &mut tables {
        match all_cores {
            true => table.radix_sort_unstable(),
            false => table.radix_sort_builder().with_parallel(false).with_single_threaded_tuner().sort(),
        }
    }
    tables
}

/// The tables in a storage system.
pub(crate) trait Tables {
    /// Visits the keys of one table in the range.
    fn scan(&mut self, table: usize, keys: RangeInclusive<u64>, visit: impl FnMut(u64)) -> Result<()>;
}

/// Queries the tables.
pub(crate) struct Prober<T> {
    tables: T,
    k: u32,
    /// First halves, as keys, with at most k / 2 bits set.
    flips: Vec<u64>,
}

impl<T: Tables> Prober<T> {
    pub(crate) fn new(tables: T, k: u32) -> Self {
        let mut flips = vec![0];
        for bit in HALF..u64::BITS {
            let with_bit = flips.iter().filter(|flip: &&u64| flip.count_ones() < k / 2).map(|flip| flip | 1 << bit);
            flips.extend(with_bit.collect::<Vec<_>>());
        }
        Self { tables, k, flips }
    }
}

impl<T: Tables> Searcher for Prober<T> {
    fn query(&mut self, query: u64, found: &mut Vec<u64>) -> Result<()> {
        let k = self.k;
        for table in 0..2 {
            let wanted = query.rotate_left(HALF * table);
            for flip in &self.flips {
                let first = (wanted ^ flip) & (u64::MAX << HALF);
                self.tables.scan(table as usize, first..=first | u64::MAX >> HALF, |key| {
                    let differs = key ^ wanted;
                    // Table 0 already found values with few flips in their other half.
                    let known = table == 1 && (differs << HALF).count_ones() <= k / 2;
                    if differs.count_ones() <= k && !known {
                        found.push(key.rotate_left(HALF * table));
                    }
                })?;
            }
        }
        Ok(())
    }
}
