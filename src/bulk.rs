//! Bulk load: records in any order to one new segment.
//!
//! Records are sorted ([`RecordSorter`]), in memory or, where they are more than it may hold, in unnamed temporary
//! files. They come to the segment in batches, in order: the first table and the ids are encoded from them as they come,
//! the keys of the other tables are gathered and sorted in turn. All threads encode while one more writes.

mod batch;
mod build;
mod deal;
mod entry;
mod external;
mod first_table;
mod id_index;
mod id_section;
#[cfg(test)]
mod lookup_tests;
mod other_tables;
mod pace;
mod present;
mod records;
mod sample;
mod sort;
mod sorted_ids;
mod spool;
mod workspace;

pub(crate) use batch::{Batch, batches};
pub(crate) use build::{Building, Expected, OtherKeys, write_segment};
pub(crate) use deal::{Dealer, cut, deal};
pub(crate) use external::{Chunk, Chunks, Item, Sorted, Sorter, TextChunk, TextSorter};
pub(crate) use id_index::{IdIndexEntries, id_hash, id_hash_of};
pub(crate) use pace::Pace;
pub(crate) use present::{Layer, Present};
pub use records::{IntoSorted, RecordIds, RecordSorter, Records, SortedRecords};
pub use sorted_ids::{IdSorter, SortedIds};
pub(crate) use workspace::Workspace;

use crate::plan::Permutation;

/// The keys of 64-bit fingerprints in a table with this permutation, in ascending order.
pub(crate) fn keys_of(fingerprints: &[u64], permutation: &Permutation) -> Vec<u64> {
    sort::sorted(fingerprints, |_, &fingerprint| permutation.apply(fingerprint), |&key| key)
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
