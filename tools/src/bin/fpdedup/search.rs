//! A search for clusters, of fingerprints or of records with keys.

use fpstore::clusters::{Clusters, Linkage};
use fpstore::{Fingerprint, IdKind};

use crate::job::Job;
use crate::priorities::Kept;
use crate::report::{Near, Reporting};

/// A search that has its memory. The subcommands say what is done with the clusters.
pub(crate) struct Search<'a, F: Fingerprint> {
    pub(crate) job: &'a Job<'a>,
    pub(crate) clusters: Clusters<F>,
    pub(crate) kept: Kept,
    /// The kind of ids.
    pub(crate) ids: IdKind,
    pub(crate) linkage: Linkage,
    pub(crate) near: Near,
    pub(crate) reporting: Reporting,
}
