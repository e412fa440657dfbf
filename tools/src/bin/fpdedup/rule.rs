//! `--linkage`: the rule that makes clusters of near records.

use clap::ValueEnum;
use fpstore::clusters::Linkage;

/// The name of a linkage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rule {
    Single,
    Star,
    Complete,
}

impl Rule {
    pub(crate) fn linkage(self) -> Linkage {
        match self {
            Self::Single => Linkage::Single,
            Self::Star => Linkage::Star,
            Self::Complete => Linkage::Complete,
        }
    }
}

/// Returns the name of a linkage, as the option has it.
pub(crate) fn name(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Single => "single",
        Linkage::Star => "star",
        Linkage::Complete => "complete",
    }
}
