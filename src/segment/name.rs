//! The names of segment files, and sorted keys of a table.

use crate::plan::Permutation;

/// The keys of 64-bit fingerprints in a table with this permutation, ascending.
pub(crate) fn keys_of(fingerprints: &[u64], permutation: &Permutation) -> Vec<u64> {
    crate::extsort::sorted(fingerprints, |_, &fingerprint| permutation.apply(fingerprint), |&key| key)
}

const SEGMENT_SUFFIX: &str = ".segment";

/// Whether a file's name is one that [`segment_name`] makes.
pub(crate) fn is_segment_name(name: &str) -> bool {
    let number = name.strip_suffix(SEGMENT_SUFFIX).and_then(|digits| digits.parse().ok());
    number.is_some_and(|number| segment_name(number) == name)
}

pub(crate) fn segment_name(number: u64) -> String {
    format!("{number:08}{SEGMENT_SUFFIX}")
}
