//! The planner's prediction for a query, for the reports of `fpload --plan list` and `fpdump plan`.

use fpstore::plan::Cost;
use serde::Serialize;

/// The expected work of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Expected {
    /// Whether a query compares with all fingerprints of the primary table.
    pub scan: bool,
    /// Prefixes probed.
    pub probes: f64,
    /// Blocks read and decoded.
    pub blocks_read: f64,
    /// Fingerprints compared.
    pub candidates: f64,
    /// Time on one core with everything in memory.
    pub microseconds: f64,
}

impl Expected {
    /// Converts a prediction.
    #[must_use]
    pub fn new(cost: &Cost) -> Self {
        Self {
            scan: cost.scan,
            probes: cost.probes,
            blocks_read: cost.blocks,
            candidates: cost.candidates,
            microseconds: cost.nanos / 1000.0,
        }
    }

    /// Adds the work of a query in another segment.
    pub fn add(&mut self, other: Self) {
        self.scan |= other.scan;
        self.probes += other.probes;
        self.blocks_read += other.blocks_read;
        self.candidates += other.candidates;
        self.microseconds += other.microseconds;
    }
}
