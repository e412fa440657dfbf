//! Administration of what is open, a store of fingerprints or a key index.

use std::path::Path;

use fpstore::Result;
use fpstore::admin::{BackupMode, BackupReport, Recovery, Statistics, VerifyReport};

use crate::open::{AnyIndex, Handle};

/// Evaluates an expression with the store or the key index.
macro_rules! either {
    ($handle:expr, $index:ident => $body:expr) => {
        match &$handle.index {
            AnyIndex::Store($index) => $body,
            AnyIndex::Keys($index) => $body,
        }
    };
}

impl Handle {
    /// Sizes and counts.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        either!(self, index => index.statistics())
    }

    /// The content of the logs when it was opened.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        either!(self, index => index.recovery())
    }

    /// Checks every byte of its files.
    ///
    /// # Errors
    /// Those of [`fpstore::Store::verify`].
    pub fn verify(&self) -> Result<VerifyReport> {
        either!(self, index => index.verify())
    }

    /// Copies the present state to a new directory, and verifies the copy.
    ///
    /// # Errors
    /// Those of [`fpstore::Store::backup`].
    pub fn backup(&self, path: &Path, mode: BackupMode) -> Result<BackupReport> {
        either!(self, index => index.backup(path, mode))
    }

    /// Merges all runs to one; false if there was nothing to merge.
    ///
    /// # Errors
    /// Those of [`fpstore::Store::compact`].
    pub fn compact(&self) -> Result<bool> {
        either!(self, index => index.compact())
    }

    /// Moves a store that is open for reading on to the latest state; whether there was one.
    ///
    /// # Errors
    /// Those of [`fpstore::Store::refresh`].
    pub fn refresh(&self) -> Result<bool> {
        either!(self, index => index.refresh())
    }
}
