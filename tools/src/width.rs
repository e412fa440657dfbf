//! Widths of fingerprints that an option or an input tells; `fpstore::with_width` leads from there to their types.

use anyhow::bail;
use fpstore::WIDTHS;

/// Reads a width; for clap's `value_parser`.
///
/// # Errors
///
/// When there are no such fingerprints.
pub fn parse(text: &str) -> Result<u32, String> {
    let width = text.parse().ok().filter(|width| WIDTHS.contains(width));
    width.ok_or_else(|| "expected 64, 128 or 256".to_owned())
}

/// Refuses a `--distance` that no two fingerprints of this width have.
///
/// # Errors
///
/// When the distance is larger than the width.
pub fn check_distance(distance: u32, width: u32) -> anyhow::Result<()> {
    if distance > width {
        bail!("--distance {distance}: fingerprints of {width} bits differ in no more");
    }
    Ok(())
}
