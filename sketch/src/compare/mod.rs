//! Measures how similar two fingerprints are, or two texts that are short enough to be compared whole.

mod fingerprints;
mod substring;
mod texts;

pub use fingerprints::{distance, equal_bits, ratio};
pub use substring::longest_common_substring;
pub use texts::Measure;
