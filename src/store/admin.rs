//! Administration of an open store: statistics, health, verification, backup, compaction.

use super::Store;
use crate::admin::{BackupMode, BackupReport, Statistics, VerifyReport, backup, statistics, verify};
use crate::db::Health;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use std::path::Path;

impl<F: Fingerprint> Store<F> {
    /// Sizes and counts. Looks up the records that no segment has yet, which takes about a second for a million of
    /// them.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        statistics::of_store(self.inner())
    }

    /// Checks every byte of the store's files. [`verify`] does the same for a store too damaged to open.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![1u64, 2, 3]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// assert!(store.verify()?.damages.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if something cannot be read; damage is in the report.
    pub fn verify(&self) -> Result<VerifyReport> {
        verify(self.path(), &self.inner().context.options)
    }

    /// The operations that fail at present, and why.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
    /// assert!(store.health().is_good());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn health(&self) -> Health {
        self.inner().health()
    }

    /// Copies the store as it is now to a new path, and checks every byte of the copy. Writes and queries go on
    /// meanwhile.
    ///
    /// ```
    /// use fpstore::admin::BackupMode;
    /// use fpstore::{Durability, Options, Parameters, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let (path, copy) = (directory.path().join("store"), directory.path().join("copy"));
    /// let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
    /// store.insert(0x832f_e9f6_aa2f_461a, 1, Durability::Buffered)?;
    /// store.backup(&copy, BackupMode::Link)?;
    /// store.remove_fingerprint(0x832f_e9f6_aa2f_461a, Durability::Buffered)?;
    /// assert_eq!(Store::<u64>::open(&copy, &Options::new())?.records().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `AlreadyExists` if the path exists; `Damaged` if the copy, and so the store, is damaged; `Io`. After an error,
    /// no store is left at the path if it can be removed.
    pub fn backup(&self, path: impl AsRef<Path>, mode: BackupMode) -> Result<BackupReport> {
        backup::backup(&self.handle, path.as_ref(), mode)
    }

    /// Makes the missing prefix filters, as [`Store::make_filters`] does, and saves all of them beside their segments:
    /// programs that open the store read them, when it is time for filters ([`crate::Filters`]), instead of making
    /// them. Returns the bytes written, which is 0 if these filters or larger ones were saved before.
    ///
    /// They take 1 to 4 bytes a fingerprint and table, and no answer depends on them. Later segments have none until
    /// this is called again. A program for whose memory they are too large makes smaller ones.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered((1..=10_000u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect());
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// assert!(store.save_filters()? > 0);
    /// assert_eq!(store.save_filters()?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ReadOnly`, `Poisoned`; `Io` from writing, which leaves the file that was there, or none, of this segment and
    /// later ones; `Damaged` or `Io` if a table cannot be read.
    pub fn save_filters(&self) -> Result<u64> {
        self.inner().save_filters()
    }

    /// Makes one segment of all present records; whether there was anything to do. Records that are written meanwhile
    /// stay in segments of their own.
    ///
    /// # Errors
    /// `ReadOnly`, `Poisoned`; `Damaged` or `Io` from reading; `Io` from writing, which leaves the store as before.
    pub fn compact(&self) -> Result<bool> {
        self.inner().flush()?;
        self.inner().compact_all()
    }
}
