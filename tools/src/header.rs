//! The first line that a program writes before fingerprints, and the last line, which confirms that all are present.
//! `fpload` checks both.

use fpstore::{Id, IdKind, Parameters};

use crate::input::Header;

/// Returns the last line after `records` records. A writer that fails does not write it.
#[must_use]
pub fn trailer(records: u64) -> String {
    format!("#end records={records}\n")
}

/// Returns the header of records of a store with these parameters; `first` is the id of the first record. `None` if a
/// load would assume all of it.
#[must_use]
pub fn of_store(parameters: &Parameters, first: Option<&Id>) -> Option<Header> {
    let (width, ids, hasher) = (parameters.width(), parameters.ids(), parameters.hasher());
    let implied = match ids {
        IdKind::Number => true,
        IdKind::None => false,
        // A load would take a text of digits for a number.
        IdKind::Text => first.is_none_or(|first| first.text().is_some_and(|text| text.parse::<u64>().is_err())),
    };
    if width == 64 && implied && hasher.is_none() {
        return None;
    }
    let ids = (!implied).then_some(ids);
    Some(Header { width: Some(width), ids, hasher: hasher.map(str::to_owned), end: false })
}
