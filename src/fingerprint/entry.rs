//! What a run or a memtable holds of a record.

use super::record::Record;

/// A record, or the tombstone of one that was removed. Of counts: by how much the number of records of a fingerprint
/// grows or shrinks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry<F = u64> {
    pub(crate) record: Record<F>,
    pub(crate) is_tombstone: bool,
}
