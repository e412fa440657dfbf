//! From the width that a store or an input tells to the type that the code is written for.

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
