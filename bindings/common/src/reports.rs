//! Reports as text: the fields of `fpdump --json`.

use std::path::Path;

use fpstore::admin::Statistics;
use fpstore::{Error, ErrorKind, Options, Result};
use fpstore_tools::statistics::{KeyReport, StoreReport};
use fpstore_tools::verified::Verified;
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
    json(&report)
}

/// Verifies every byte of a store, or of a segment or log of one. Returns a JSON object with the fields of `fpdump
/// verify --json`.
///
/// # Errors
/// `NotFound` if there is nothing at the path; `Io` if something cannot be read. Damage is not an error.
pub fn verified_json(path: &Path, options: &Options) -> Result<String> {
    json(&Verified::of(path, fpstore::admin::verify(path, options))?)
}

fn json(report: &impl Serialize) -> Result<String> {
    serde_json::to_string(report).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
}
