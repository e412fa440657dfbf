//! The lower bound of building: both tables as sorted arrays, by radix sort (rdst) with all cores or one, queried by
//! binary search.

use crate::peer::{Index, Peer, Result, Searcher, Sizes};
use crate::permuted::{Prober, Tables, sorted};
use std::ops::RangeInclusive;

pub(crate) fn peers(k: u32) -> Vec<Peer> {
    let peer = |(name, all_cores)| Peer {
        name,
        build: Box::new(move |values, _| Ok(Box::new(Sorted { tables: sorted(values, all_cores), k }))),
    };
    [("radix-sort", true), ("radix-sort-1-thread", false)].map(peer).into()
}

struct Sorted {
    tables: [Vec<u64>; 2],
    k: u32,
}

impl Index for Sorted {
    fn searcher(&self) -> Result<Box<dyn Searcher + '_>> {
        Ok(Box::new(Prober::new(&self.tables, self.k)))
    }

    fn sizes(&self) -> Result<Sizes> {
        Ok(Sizes::default())
    }
}

impl Tables for &[Vec<u64>; 2] {
    fn scan(&mut self, table: usize, keys: RangeInclusive<u64>, visit: impl FnMut(u64)) -> Result<()> {
        let table = &self[table];
        let start = table.partition_point(|key| key < keys.start());
        table[start..].iter().copied().take_while(|key| keys.contains(key)).for_each(visit);
        Ok(())
    }
}
