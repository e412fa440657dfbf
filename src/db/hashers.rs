//! Distances between fingerprints that different hashers have made mean nothing.

use crate::error::{Error, Result};

/// Refuses to compare some fingerprints with others of another hasher ([`crate::Parameters::hasher`]), where both are known. `what`
/// are the former.
///
/// # Errors
/// `InvalidInput` that names both.
pub fn check_hashers(what: &str, hasher: Option<&str>, of_others: Option<&str>) -> Result<()> {
    match (hasher, of_others) {
        (Some(own), Some(others)) if own != others => Err(Error::invalid(format!(
            "the {what} were made by {own}, the fingerprints that they are to be compared with by {others}; distances \
             between the two mean nothing"
        ))),
        _ => Ok(()),
    }
}
