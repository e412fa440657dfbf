//! Whether every bit of fingerprints is useful: `fphash health`.
//!
//! It makes one pass over any number of fingerprints, in bounded memory. Exact over all records are: how often each bit
//! is 1, how often each pair of bits is 1 together, and how many fingerprints are all zeros or all ones; from these
//! follow dead, constant, mirrored, biased and correlated bits and the mean distance. Samples give: the number of
//! distinct values, the most frequent value, the number of values with few ones or few zeros, and the spread of
//! distances. Bits are numbered from 0, the most significant one. The result does not depend on the number of threads.

mod advice;
mod bits;
mod counts;
mod distinct;
mod gather;
mod grid;
mod people;
mod report;
mod sample;
mod transpose;

pub use gather::Gathered;
pub use grid::Pen;
pub use people::write;
pub use report::Report;

/// Fingerprints that are best counted together.
pub const BATCH: usize = 1 << 17;
