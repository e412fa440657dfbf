//! How long the steps of a query take.

/// Times of the steps of a query, in nanoseconds, on one core with everything in memory. They serve to choose and to
/// compare, they are no promises.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Timings {
    /// To ask a filter for a prefix.
    pub filter: f64,
    /// To find a prefix in the block index. Of the time to find and to fetch, which is what can be measured, about a
    /// fifth.
    pub place: f64,
    /// To fetch a block and begin with it.
    pub block: f64,
    /// To decode a key and to compare it.
    pub key: f64,
    /// To begin the next block of a scan, which was fetched beforehand.
    pub next_block: f64,
    /// To fetch a row that a narrow key names and to compare it.
    pub row: f64,
    /// To compare 64 bits of rows that lie together.
    pub row_word: f64,
}

impl Timings {
    /// What the planner and every store reckon with. `cargo bench --bench calibrate` measures the running machine and
    /// prints its times beside these.
    pub const IN_USE: Self =
        Self { filter: 8.0, place: 20.0, block: 80.0, key: 1.4, next_block: 42.0, row: 30.0, row_word: 0.8 };
}
