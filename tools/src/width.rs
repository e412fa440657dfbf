//! Widths of fingerprints in options and inputs, and the types that stand for them.

use anyhow::bail;
use fpstore::AnyFingerprint;

/// Evaluates an expression with the type of fingerprints of a width.
#[macro_export]
macro_rules! by_width {
    ($width:expr, $F:ident => $body:expr) => {
        match $width {
            256 => {
                type $F = fpstore::U256;
                $body
            }
            128 => {
                type $F = u128;
                $body
            }
            _ => {
                type $F = u64;
                $body
            }
        }
    };
}

pub use by_width;

/// Parses a width; for clap's `value_parser`.
///
/// # Errors
///
/// If no fingerprint has this width.
pub fn parse(text: &str) -> Result<u32, String> {
    let width = text.parse().ok().filter(|width| AnyFingerprint::WIDTHS.contains(width));
    width.ok_or_else(|| "expected 64, 128 or 256".to_owned())
}

/// Rejects a distance larger than the width; `option` names the option that gave it.
///
/// # Errors
///
/// If the distance is larger than the width.
pub fn check_distance(option: &str, distance: u32, width: u32) -> anyhow::Result<()> {
    if distance > width {
        bail!("{option} {distance}: fingerprints of {width} bits differ in no more");
    }
    Ok(())
}
