//! The run that a report is about.

use fpstore::clusters::Linkage;

use crate::rule;

/// What a report says of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    pub(crate) linkage: Linkage,
    /// Bits in which near fingerprints may differ.
    pub(crate) distance: u32,
    /// Names of the numbers of clusters and of other records, for people.
    pub(crate) names: [&'static str; 2],
}

impl About {
    /// Name of the linkage.
    pub(super) fn linkage(self) -> &'static str {
        rule::name(self.linkage)
    }
}
