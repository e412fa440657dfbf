//! From the width that an option, a store or an input tells to the type that the code is written for.

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

/// Runs an expression with a type `F` that is the fingerprint of a width: `with_width!(width, F => run::<F>(args))`.
#[macro_export]
macro_rules! with_width {
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
