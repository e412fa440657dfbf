//! Distances between fingerprints that different hashers have made mean nothing.

use super::parameters::Parameters;
use crate::error::{Error, Result};

impl Parameters {
    /// Refuses to compare fingerprints of two hashers ([`Parameters::hasher`]), where both are known. `what` names the
    /// first ones in the error: "queries".
    ///
    /// # Errors
    /// `InvalidInput` that names both hashers.
    pub fn check_hashers(what: &str, hasher: Option<&str>, of_others: Option<&str>) -> Result<()> {
        match (hasher, of_others) {
            (Some(own), Some(others)) if own != others => Err(Error::invalid(format!(
                "the {what} were made by {own}, the fingerprints that they are to be compared with by {others}; \
                 distances between the two mean nothing"
            ))),
            _ => Ok(()),
        }
    }
}
