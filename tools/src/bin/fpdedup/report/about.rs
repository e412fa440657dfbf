//! The run that a report is about.

use fpstore::clusters::Linkage;
use fpstore_tools::number::count_of;

use crate::rule;

/// What makes records near.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Near {
    /// Their fingerprints differ in at most so many bits.
    Distance(u32),
    /// They share at least so many keys, and their sketches, if there are any, are at least so similar.
    Keys { min_shared: u64, min_jaccard: f64, has_sketches: bool },
}

/// What a report says of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    pub(crate) linkage: Linkage,
    pub(crate) near: Near,
    /// Whether it went on from labels or evidence of an earlier run.
    pub(crate) has_previous: bool,
    /// Names of the numbers of clusters and of other records, for people.
    pub(crate) names: [&'static str; 2],
}

impl About {
    /// Name of the linkage.
    pub(super) fn linkage(self) -> &'static str {
        rule::name(self.linkage)
    }

    /// Why chains are unknown, if the linkage may have some.
    pub(super) fn chains_unknown(self) -> Option<&'static str> {
        match self.linkage {
            Linkage::Single => None,
            _ if self.has_previous => Some("unknown: with --previous, only new records are compared"),
            _ => Some("unknown: with --min-shared or --min-jaccard, stars are found without all pairs"),
        }
    }
}

impl Near {
    /// What is compared.
    pub(crate) fn thing(self) -> &'static str {
        match self {
            Self::Distance(_) => "fingerprint",
            Self::Keys { .. } => "record",
        }
    }

    /// The rule in words.
    pub(super) fn words(self) -> String {
        match self {
            Self::Distance(within) => format!("within {}", count_of(within.into(), "bit")),
            Self::Keys { min_shared, min_jaccard, .. } => {
                let alike = if min_jaccard > 0.0 { format!(", at least {min_jaccard} alike,") } else { String::new() };
                format!("with at least {} in common{alike}", count_of(min_shared, "key"))
            }
        }
    }
}
