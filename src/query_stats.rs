//! The work of queries.

use std::ops::{Add, AddAssign};

/// Counts of the work of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryStats {
    /// Prefixes that were probed, in filters or in block indexes.
    pub probes: u64,
    /// Prefixes that passed the filters and were looked up in block indexes.
    pub index_lookups: u64,
    /// Blocks read and decoded to find candidates.
    pub blocks: u64,
    /// Candidates: decoded fingerprints that were compared with a query.
    pub candidates: u64,
    /// Segments that were read whole, because that was cheaper than probing or requested.
    pub scans: u64,
    /// Segments that were merged with a batch of queries.
    pub merge_joins: u64,
}

impl AddAssign for QueryStats {
    fn add_assign(&mut self, other: Self) {
        self.probes += other.probes;
        self.index_lookups += other.index_lookups;
        self.blocks += other.blocks;
        self.candidates += other.candidates;
        self.scans += other.scans;
        self.merge_joins += other.merge_joins;
    }
}

impl Add for QueryStats {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}
