//! Bulk load: records in any order to one new segment.
//!
//! Records are sorted ([`RecordSorter`]), in memory or, where they are more than it may hold, in unnamed temporary
//! files. They come to the segment in batches, in order: the first table and the ids are encoded from them as they come,
//! the keys of the other tables are gathered and sorted in turn. All threads encode while one more writes.

use crate::plan::Permutation;

/// The keys of 64-bit fingerprints in a table with this permutation, in ascending order.
pub(crate) fn keys_of(fingerprints: &[u64], permutation: &Permutation) -> Vec<u64> {
    crate::extsort::sorted(fingerprints, |_, &fingerprint| permutation.apply(fingerprint), |&key| key)
}

/// Ending of the names of segment files.
const SEGMENT_SUFFIX: &str = ".segment";

/// Whether a file's name is one that [`segment_name`] makes.
pub(crate) fn is_segment_name(name: &str) -> bool {
    let number = name.strip_suffix(SEGMENT_SUFFIX).and_then(|digits| digits.parse().ok());
    number.is_some_and(|number| segment_name(number) == name)
}

/// The name of a segment's file.
pub(crate) fn segment_name(number: u64) -> String {
    format!("{number:08}{SEGMENT_SUFFIX}")
}
