//! A store of a width that is known only at run time.

use super::{Store, parameters_of};
use crate::admin::{BackupMode, BackupReport, Statistics, VerifyReport};
use crate::db::{Health, InsertOutcome, Recovery, WriteBatch};
use crate::error::Result;
use crate::fingerprint::{AnyFingerprint, Fingerprint, Id, IdAssignment, IdRef, Match, Record, U256};
use crate::format::Parameters;
use crate::options::Options;
use crate::wal::Durability;
use std::path::Path;

/// A store of any width, for programs and bindings that learn the width from the store.
///
/// Its methods and their errors are those of [`Store`]; fingerprints carry their width, and one of another width than
/// the store's is an error of kind `InvalidInput`. Code that is written for a type of fingerprints matches on the
/// variants.
///
/// ```
/// use fpstore::{AnyStore, Durability, Options, Parameters};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// AnyStore::create(&path, &Parameters::new(3).with_width(128), &Options::new())?.close()?;
/// let store = AnyStore::open(&path, &Options::new())?;
/// let fingerprint = "832fe9f6aa2f461a0000c4d3ba6cde29".parse()?;
/// store.insert(fingerprint, 17, Durability::SyncData)?;
/// assert_eq!(store.query(fingerprint, 3)?[0].id, 17);
/// assert!(store.insert(7_u64.into(), 18, Durability::SyncData).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum AnyStore {
    /// Of 64-bit fingerprints.
    Bits64(Store<u64>),
    /// Of 128-bit fingerprints.
    Bits128(Store<u128>),
    /// Of 256-bit fingerprints.
    Bits256(Store<U256>),
}

/// Evaluates an expression with the typed store.
macro_rules! with_store {
    ($any:expr, $store:ident => $body:expr) => {
        match $any {
            AnyStore::Bits64($store) => $body,
            AnyStore::Bits128($store) => $body,
            AnyStore::Bits256($store) => $body,
        }
    };
}

/// Evaluates an expression that makes a store, for the type of the width.
macro_rules! with_width {
    ($width:expr, $store:expr) => {
        match $width {
            256 => $store.map(Self::Bits256),
            128 => $store.map(Self::Bits128),
            _ => $store.map(Self::Bits64),
        }
    };
}

impl AnyStore {
    /// As [`Store::create`]; the parameters have the width.
    pub fn create(path: impl AsRef<Path>, parameters: &Parameters, options: &Options) -> Result<Self> {
        parameters.check()?;
        with_width!(parameters.width(), Store::create(path, parameters, options))
    }

    /// As [`Store::open`].
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        with_width!(parameters_of(&path, options)?.width(), Store::open(path, options))
    }

    /// As [`Store::open_read_only`].
    pub fn open_read_only(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        with_width!(parameters_of(&path, options)?.width(), Store::open_read_only(path, options))
    }

    /// As [`Store::parameters`].
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        with_store!(self, store => store.parameters())
    }

    /// As [`Store::id_assignment`].
    #[must_use]
    pub fn id_assignment(&self) -> IdAssignment {
        with_store!(self, store => store.id_assignment())
    }

    /// As [`Store::path`].
    #[must_use]
    pub fn path(&self) -> &Path {
        with_store!(self, store => store.path())
    }

    /// As [`Store::recovery`].
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        with_store!(self, store => store.recovery())
    }

    /// As [`Store::insert`].
    pub fn insert<'a>(
        &self,
        fingerprint: AnyFingerprint,
        id: impl Into<IdRef<'a>>,
        durability: Durability,
    ) -> Result<()> {
        with_store!(self, store => store.insert(fingerprint.typed()?, id, durability))
    }

    /// As [`Store::insert_numbered`].
    pub fn insert_numbered(&self, fingerprint: AnyFingerprint, durability: Durability) -> Result<u64> {
        with_store!(self, store => store.insert_numbered(fingerprint.typed()?, durability))
    }

    /// As [`Store::insert_if_new`].
    pub fn insert_if_new<'a>(
        &self,
        fingerprint: AnyFingerprint,
        id: impl Into<IdRef<'a>>,
        k: u32,
        durability: Durability,
    ) -> Result<InsertOutcome<AnyFingerprint>> {
        with_store!(self, store => {
            let outcome = store.insert_if_new(fingerprint.typed()?, id, k, durability)?;
            let InsertOutcome { inserted, number, duplicates, own } = outcome;
            Ok(InsertOutcome { inserted, number, duplicates: any_matches(duplicates), own: any_matches(own) })
        })
    }

    /// As [`Store::insert_many`]; nothing is written if one of the fingerprints is of another width.
    pub fn insert_many<'a, I: Into<IdRef<'a>>>(
        &self,
        records: impl IntoIterator<Item = (AnyFingerprint, I)>,
        durability: Durability,
    ) -> Result<()> {
        with_store!(self, store => {
            let mut batch = WriteBatch::new();
            for (fingerprint, id) in records {
                batch.insert(fingerprint.typed()?, id);
            }
            store.write(&batch, durability).map(drop)
        })
    }

    /// As [`Store::remove`].
    pub fn remove<'a>(
        &self,
        fingerprint: AnyFingerprint,
        id: impl Into<IdRef<'a>>,
        durability: Durability,
    ) -> Result<bool> {
        with_store!(self, store => store.remove(fingerprint.typed()?, id, durability))
    }

    /// As [`Store::remove_fingerprint`].
    pub fn remove_fingerprint(&self, fingerprint: AnyFingerprint, durability: Durability) -> Result<u64> {
        with_store!(self, store => store.remove_fingerprint(fingerprint.typed()?, durability))
    }

    /// As [`Store::remove_id`].
    pub fn remove_id<'a>(&self, id: impl Into<IdRef<'a>>, durability: Durability) -> Result<u64> {
        with_store!(self, store => store.remove_id(id, durability))
    }

    /// As [`Store::replace`].
    pub fn replace<'a>(
        &self,
        fingerprint: AnyFingerprint,
        id: impl Into<IdRef<'a>>,
        durability: Durability,
    ) -> Result<u64> {
        with_store!(self, store => store.replace(fingerprint.typed()?, id, durability))
    }

    /// As [`Store::query`].
    pub fn query(&self, fingerprint: AnyFingerprint, k: u32) -> Result<Vec<Match<AnyFingerprint>>> {
        with_store!(self, store => store.query(fingerprint.typed()?, k).map(any_matches))
    }

    /// As [`Store::contains_near`].
    pub fn contains_near(&self, fingerprint: AnyFingerprint, k: u32) -> Result<Option<Match<AnyFingerprint>>> {
        with_store!(self, store => Ok(store.contains_near(fingerprint.typed()?, k)?.map(any_match)))
    }

    /// As [`Store::nearest`].
    pub fn nearest(&self, fingerprint: AnyFingerprint, count: usize) -> Result<Vec<Match<AnyFingerprint>>> {
        with_store!(self, store => store.nearest(fingerprint.typed()?, count).map(any_matches))
    }

    /// As [`Store::get`].
    pub fn get(&self, fingerprint: AnyFingerprint) -> Result<Vec<Id>> {
        with_store!(self, store => store.get(fingerprint.typed()?))
    }

    /// As [`Store::get_id`].
    pub fn get_id<'a>(&self, id: impl Into<IdRef<'a>>) -> Result<Vec<AnyFingerprint>> {
        with_store!(self, store => Ok(store.get_id(id)?.into_iter().map(AnyFingerprint::from).collect()))
    }

    /// As [`Store::records`].
    #[must_use]
    pub fn records(&self) -> Box<dyn Iterator<Item = Result<Record<AnyFingerprint>>> + Send> {
        fn any<F: Fingerprint>(record: Result<Record<F>>) -> Result<Record<AnyFingerprint>> {
            record.map(|Record { fingerprint, id }| Record { fingerprint: fingerprint.into(), id })
        }
        with_store!(self, store => Box::new(store.records().map(any)))
    }

    /// As [`Store::sync`].
    pub fn sync(&self, durability: Durability) -> Result<()> {
        with_store!(self, store => store.sync(durability))
    }

    /// As [`Store::compact`].
    pub fn compact(&self) -> Result<bool> {
        with_store!(self, store => store.compact())
    }

    /// As [`Store::refresh`].
    pub fn refresh(&self) -> Result<bool> {
        with_store!(self, store => store.refresh())
    }

    /// As [`Store::statistics`].
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        with_store!(self, store => store.statistics())
    }

    /// As [`Store::health`].
    #[must_use]
    pub fn health(&self) -> Health {
        with_store!(self, store => store.health())
    }

    /// As [`Store::verify`].
    pub fn verify(&self) -> Result<VerifyReport> {
        with_store!(self, store => store.verify())
    }

    /// As [`Store::backup`].
    pub fn backup(&self, path: impl AsRef<Path>, mode: BackupMode) -> Result<BackupReport> {
        with_store!(self, store => store.backup(path, mode))
    }

    /// As [`Store::close`].
    pub fn close(self) -> Result<()> {
        with_store!(self, store => store.close())
    }
}

fn any_match<F: Fingerprint>(found: Match<F>) -> Match<AnyFingerprint> {
    let Match { distance, fingerprint, id } = found;
    Match { distance, fingerprint: fingerprint.into(), id }
}

fn any_matches<F: Fingerprint>(found: Vec<Match<F>>) -> Vec<Match<AnyFingerprint>> {
    found.into_iter().map(any_match).collect()
}
