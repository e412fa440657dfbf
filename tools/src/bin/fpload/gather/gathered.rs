//! What was read.

use fpstore::{Fingerprint, SortedRecords};
use fpstore_tools::documents::LeftOut;
use fpstore_tools::input::IdRule;

use crate::hasher::Hasher;

/// What was in the inputs and is not among the records.
#[derive(Default)]
pub(crate) struct PassedOver {
    /// Documents that were left out.
    pub(crate) left_out: LeftOut,
    /// Records of too low a quality.
    pub(crate) below_quality: u64,
}

/// What was read.
pub(crate) struct Gathered<F: Fingerprint> {
    pub(crate) records: SortedRecords<F>,
    pub(crate) rule: IdRule,
    pub(crate) hasher: Hasher,
    pub(crate) passed_over: PassedOver,
}
