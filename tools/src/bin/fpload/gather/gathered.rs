//! The result of reading the inputs.

use fpstore::Fingerprint;
use fpstore::bulk::SortedRecords;
use fpstore_tools::documents::LeftOut;
use fpstore_tools::input::IdRule;

use crate::hasher::Hasher;

/// Input that did not become records.
#[derive(Default)]
pub(crate) struct PassedOver {
    /// Documents that were left out.
    pub(crate) left_out: LeftOut,
    /// Number of records of too low a quality.
    pub(crate) below_quality: u64,
}

/// The sorted records, and the properties of the inputs.
pub(crate) struct Gathered<F: Fingerprint> {
    pub(crate) records: SortedRecords<F>,
    pub(crate) rule: IdRule,
    pub(crate) hasher: Hasher,
    pub(crate) passed_over: PassedOver,
}
