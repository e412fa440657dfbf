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
/// the store's is an error of kind `InvalidInput`. Loads, batches of queries, pairs and clusters hand chunks of one
/// type of fingerprints to the caller's closures; code for these matches on the variants.
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
macro_rules! opened_by_width {
    ($width:expr, $store:expr) => {
        match $width {
            256 => $store.map(Self::Bits256),
            128 => $store.map(Self::Bits128),
            _ => $store.map(Self::Bits64),
        }
    };
}

/// Defines methods that do the same as those of [`Store`], for the typed store.
macro_rules! as_store {
    ($($(#[$attribute:meta])* fn $name:ident$(<$lifetime:lifetime>)?(&$self:ident $(, $argument:ident: $type:ty)*)
       -> $result:ty = |$store:ident| $body:expr;)*) => {$(
        #[doc = concat!("As [`Store::", stringify!($name), "`].")]
        $(#[$attribute])*
        pub fn $name$(<$lifetime>)?(&$self $(, $argument: $type)*) -> $result {
            with_store!($self, $store => $body)
        }
    )*};
}

impl AnyStore {
    /// As [`Store::create`]; the parameters have the width.
    pub fn create(path: impl AsRef<Path>, parameters: &Parameters, options: &Options) -> Result<Self> {
        parameters.check()?;
        opened_by_width!(parameters.width(), Store::create(path, parameters, options))
    }

    /// As [`Store::open`].
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        opened_by_width!(parameters_of(&path, options)?.width(), Store::open(path, options))
    }

    /// As [`Store::open_read_only`].
    pub fn open_read_only(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        opened_by_width!(parameters_of(&path, options)?.width(), Store::open_read_only(path, options))
    }

    as_store! {
        #[must_use]
        fn parameters(&self) -> &Parameters = |store| store.parameters();
        #[must_use]
        fn id_assignment(&self) -> IdAssignment = |store| store.id_assignment();
        #[must_use]
        fn path(&self) -> &Path = |store| store.path();
        #[must_use]
        fn recovery(&self) -> &Recovery = |store| store.recovery();

        fn insert<'a>(&self, fingerprint: AnyFingerprint, id: impl Into<IdRef<'a>>, durability: Durability)
            -> Result<()> = |store| store.insert(fingerprint.typed()?, id, durability);
        fn insert_numbered(&self, fingerprint: AnyFingerprint, durability: Durability)
            -> Result<u64> = |store| store.insert_numbered(fingerprint.typed()?, durability);
        fn insert_if_new<'a>(&self, fingerprint: AnyFingerprint, id: impl Into<IdRef<'a>>, k: u32, durability: Durability)
            -> Result<InsertOutcome<AnyFingerprint>> = |store| {
                let outcome = store.insert_if_new(fingerprint.typed()?, id, k, durability)?;
                let InsertOutcome { inserted, number, duplicates, own } = outcome;
                Ok(InsertOutcome { inserted, number, duplicates: any_matches(duplicates), own: any_matches(own) })
            };
        fn remove<'a>(&self, fingerprint: AnyFingerprint, id: impl Into<IdRef<'a>>, durability: Durability)
            -> Result<bool> = |store| store.remove(fingerprint.typed()?, id, durability);
        fn remove_fingerprint(&self, fingerprint: AnyFingerprint, durability: Durability)
            -> Result<u64> = |store| store.remove_fingerprint(fingerprint.typed()?, durability);
        fn remove_id<'a>(&self, id: impl Into<IdRef<'a>>, durability: Durability)
            -> Result<u64> = |store| store.remove_id(id, durability);
        fn replace<'a>(&self, fingerprint: AnyFingerprint, id: impl Into<IdRef<'a>>, durability: Durability)
            -> Result<u64> = |store| store.replace(fingerprint.typed()?, id, durability);

        fn query(&self, fingerprint: AnyFingerprint, k: u32)
            -> Result<Vec<Match<AnyFingerprint>>> = |store| store.query(fingerprint.typed()?, k).map(any_matches);
        fn contains_near(&self, fingerprint: AnyFingerprint, k: u32) -> Result<Option<Match<AnyFingerprint>>> =
            |store| Ok(store.contains_near(fingerprint.typed()?, k)?.map(any_match));
        fn nearest(&self, fingerprint: AnyFingerprint, count: usize) -> Result<Vec<Match<AnyFingerprint>>> =
            |store| store.nearest(fingerprint.typed()?, count).map(any_matches);
        fn get(&self, fingerprint: AnyFingerprint) -> Result<Vec<Id>> = |store| store.get(fingerprint.typed()?);
        fn get_id<'a>(&self, id: impl Into<IdRef<'a>>) -> Result<Vec<AnyFingerprint>> =
            |store| Ok(store.get_id(id)?.into_iter().map(AnyFingerprint::from).collect());
        #[must_use]
        fn records(&self) -> Box<dyn Iterator<Item = Result<Record<AnyFingerprint>>> + Send> =
            |store| Box::new(store.records().map(any_record));

        fn sync(&self, durability: Durability) -> Result<()> = |store| store.sync(durability);
        fn compact(&self) -> Result<bool> = |store| store.compact();
        fn save_filters(&self) -> Result<u64> = |store| store.save_filters();
        fn refresh(&self) -> Result<bool> = |store| store.refresh();
        #[must_use]
        fn statistics(&self) -> Statistics = |store| store.statistics();
        #[must_use]
        fn health(&self) -> Health = |store| store.health();
        fn verify(&self) -> Result<VerifyReport> = |store| store.verify();
        fn backup(&self, path: impl AsRef<Path>, mode: BackupMode) -> Result<BackupReport> =
            |store| store.backup(path, mode);
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

    /// As [`Store::close`].
    pub fn close(self) -> Result<()> {
        with_store!(self, store => store.close())
    }
}

fn any_record<F: Fingerprint>(record: Result<Record<F>>) -> Result<Record<AnyFingerprint>> {
    record.map(|Record { fingerprint, id }| Record { fingerprint: fingerprint.into(), id })
}

fn any_match<F: Fingerprint>(found: Match<F>) -> Match<AnyFingerprint> {
    let Match { distance, fingerprint, id } = found;
    Match { distance, fingerprint: fingerprint.into(), id }
}

fn any_matches<F: Fingerprint>(found: Vec<Match<F>>) -> Vec<Match<AnyFingerprint>> {
    found.into_iter().map(any_match).collect()
}
