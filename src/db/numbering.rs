//! Whether a store numbers its records itself.

use crate::format::manifest::Numbering;

/// Why ids are refused: what the store has, and the remedy.
pub(crate) type Refused = (&'static str, &'static str);

/// Refuses another numbering than the store's.
pub(crate) fn check_numbering(has: Numbering, wanted: Numbering) -> std::result::Result<(), Refused> {
    match (has, wanted) {
        (Numbering::Undecided, _) => Ok(()),
        (has, wanted) if has == wanted => Ok(()),
        (_, Numbering::Given) => Err(("numbers its records itself, the input has ids", "load the input without ids")),
        _ => Err(("has ids that its user gave, the input has none", "give every record an id")),
    }
}
