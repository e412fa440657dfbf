//! The line that says what the fingerprints behind it are; `fpload` honours it.

/// The first line of fingerprints of a width that a hasher, if it is known, has made.
#[must_use]
pub fn line(width: u32, hasher: Option<&str>) -> String {
    match hasher {
        Some(hasher) => format!("#fpstore width={width} hasher={hasher}\n"),
        None => format!("#fpstore width={width}\n"),
    }
}
