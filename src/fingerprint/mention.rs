//! What is said of a record: that it is there, or that it is not any more.

use super::{Fingerprint, Record};

/// The last word on a record: it is there, or it was removed. Of counts, how many more records, or less, its fingerprint
/// has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mention<F: Fingerprint = u64> {
    pub(crate) record: Record<F>,
    pub(crate) removed: bool,
}
