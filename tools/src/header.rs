//! The line that says what the fingerprints behind it are, and the one that says that all are there; `fpload` honours both.

use fpstore::{Id, IdKind, Parameters};

/// What a first line ends with that announces a [`trailer`].
pub const ANNOUNCED: &str = " end=1";

/// The last line of so many records, which a writer that fails does not come to.
#[must_use]
pub fn trailer(records: u64) -> String {
    format!("#end records={records}\n")
}

/// The first line of the records of a store with these parameters, of which the first has this id; none where a load would
/// take all of it for granted.
#[must_use]
pub fn line(parameters: &Parameters, first: Option<&Id>) -> Option<String> {
    let (width, ids, hasher) = (parameters.width(), parameters.ids(), parameters.hasher());
    let told = match ids {
        IdKind::Number => true,
        IdKind::None => false,
        // What looks like a number would be taken for one.
        IdKind::Text => first.is_none_or(|first| first.text().is_some_and(|text| text.parse::<u64>().is_err())),
    };
    if width == 64 && told && hasher.is_none() {
        return None;
    }
    let ids = if told { String::new() } else { format!(" ids={ids}") };
    let hasher = hasher.map_or(String::new(), |hasher| format!(" hasher={hasher}"));
    Some(format!("#fpstore width={width}{ids}{hasher}\n"))
}
