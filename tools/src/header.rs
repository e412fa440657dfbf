//! The line that says what the fingerprints behind it are; `fpload` honours it.

use fpstore::{IdKind, Parameters};

/// The first line of fingerprints of a store with these parameters; none where a load would take all of it for granted.
#[must_use]
pub fn line(parameters: &Parameters) -> Option<String> {
    let (width, ids, hasher) = (parameters.width(), parameters.ids(), parameters.hasher());
    if width == 64 && ids == IdKind::Number && hasher.is_none() {
        return None;
    }
    let ids = if ids == IdKind::Number { String::new() } else { format!(" ids={ids}") };
    let hasher = hasher.map_or(String::new(), |hasher| format!(" hasher={hasher}"));
    Some(format!("#fpstore width={width}{ids}{hasher}\n"))
}
