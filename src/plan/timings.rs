//! The times of the steps of a query.

/// Times of the steps of a query, in nanoseconds, on one core with everything in memory: for choices and comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Timings {
    /// To look a prefix up in a filter.
    pub filter: f64,
    /// To find a prefix in the block index: about a fifth of the measurable time to find and to fetch.
    pub place: f64,
    /// To fetch a block and begin to decode it.
    pub block: f64,
    /// To decode a key and to compare it.
    pub key: f64,
    /// To begin the next block of a scan, which was prefetched.
    pub next_block: f64,
    /// To fetch a row that a narrow key names and to compare it.
    pub row: f64,
    /// To compare 64 bits of consecutive rows.
    pub row_word: f64,
}

impl Timings {
    /// The times that the planner and every store use. `cargo bench --bench calibrate` measures the running machine and
    /// prints its times beside these.
    pub const IN_USE: Self =
        Self { filter: 8.0, place: 20.0, block: 80.0, key: 1.4, next_block: 42.0, row: 30.0, row_word: 0.8 };
}
