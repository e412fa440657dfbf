//! The result of reading the inputs.

use fpstore::keys::SortedKeys;
use fpstore_tools::documents::LeftOut;
use fpstore_tools::input::IdRule;

use crate::hasher::Hasher;

/// The sorted records, and the properties of the inputs.
pub(super) struct Gathered {
    pub(super) records: SortedKeys,
    pub(super) rule: IdRule,
    pub(super) hasher: Hasher,
    pub(super) left_out: LeftOut,
}
