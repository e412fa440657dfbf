//! From the width that a store tells to the type that the code is written for.

/// Evaluates an expression with a type that is the fingerprint of a width, a number of bits of [`crate::WIDTHS`].
///
/// ```
/// use fpstore::{Options, Parameters, Store, parameters_of, with_width};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// drop(Store::<u128>::create(&path, &Parameters::new(3).with_width(128), &Options::new())?);
/// let width = parameters_of(&path, &Options::new())?.width();
/// let records = with_width!(width, F => Store::<F>::open(&path, &Options::new())?.records().count());
/// assert_eq!(records, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! with_width {
    ($width:expr, $F:ident => $body:expr) => {
        match $width {
            256 => {
                type $F = $crate::U256;
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

pub(crate) use with_width;
