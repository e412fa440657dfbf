//! The two permuted tables that a user of an ordered key-value store would keep, and how they are asked.
//!
//! Table 0 has the fingerprints as keys, table 1 the fingerprints rotated by 32 bits. Of two fingerprints that differ
//! in at most k bits, one half differs in at most k / 2 of them; so the ranges of all keys whose first half is the
//! query's, with at most that many bits flipped, hold all answers: for k = 3, 33 ranges of each table.

use crate::peer::{Result, Searcher};
use rdst::RadixSort;
use std::ops::RangeInclusive;

const HALF: u32 = 32;

/// The sorted keys of both tables, made with all cores or with one.
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

/// The tables, kept by some system.
pub(crate) trait Tables {
    /// Visits the keys of one table that are in the range.
    fn scan(&mut self, table: usize, keys: RangeInclusive<u64>, visit: impl FnMut(u64)) -> Result<()>;
}

/// Asks the tables.
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
                    // What has few flips in its other half too was found in table 0.
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
