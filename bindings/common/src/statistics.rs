//! Sizes and counts as text.

use fpstore::admin::Statistics;
use fpstore::{Error, ErrorKind, Result};
use fpstore_tools::statistics::{KeyReport, StoreReport};
use serde::Serialize;

/// The fields of `fpdump stats --json`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    store: StoreReport,
    #[serde(flatten)]
    keys: Option<KeyReport>,
}

/// Sizes and counts as a JSON object with the fields of `fpdump stats --json`.
///
/// # Errors
/// `Io` if they cannot be written as JSON, which is an error of this crate.
pub fn statistics_json(statistics: &Statistics) -> Result<String> {
    let report = Report { store: StoreReport::new(statistics), keys: statistics.keys.as_ref().map(KeyReport::new) };
    serde_json::to_string(&report).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
}
