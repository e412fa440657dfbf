//! Whether a store numbers its records itself.

use crate::fingerprint::IdAssignment;

/// Why ids are refused: what the store has, and the remedy.
pub(crate) type Refused = (&'static str, &'static str);

/// Refuses another id_assignment than the store's.
pub(crate) fn check_id_assignment(has: IdAssignment, wanted: IdAssignment) -> std::result::Result<(), Refused> {
    match (has, wanted) {
        (IdAssignment::Undecided, _) => Ok(()),
        (has, wanted) if has == wanted => Ok(()),
        (_, IdAssignment::Explicit) => {
            Err(("numbers its records itself, the input has ids", "load the input without ids"))
        }
        _ => Err(("has ids that its user gave, the input has none", "give every record an id")),
    }
}
