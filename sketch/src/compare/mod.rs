//! Measures how similar two fingerprints are, or two texts that are short enough to be compared whole.

mod feature_set;
mod fingerprints;
mod substring;
mod texts;

pub use feature_set::FeatureSet;
pub use fingerprints::{distance, equal_bits, expected_distance, ratio};
pub use substring::longest_common_substring;
pub use texts::Measure;
