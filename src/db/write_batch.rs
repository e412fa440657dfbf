//! Batches of writes.

use crate::fingerprint::{Fingerprint, Id, IdRef, Words, to_words};
use std::marker::PhantomData;

/// Writes that are done together or not at all, in order: a later write sees the earlier ones.
///
/// ```
/// use fpstore::{Durability, Options, Parameters, Store, WriteBatch};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
/// let mut batch = WriteBatch::new();
/// batch.insert(0x832f_e9f6_aa2f_461a, 1);
/// batch.insert(0x0000_c4d3_ba6c_de29, 2);
/// batch.remove_fingerprint(0x832f_e9f6_aa2f_461a);
/// let written = store.write(&batch, Durability::SyncData)?;
/// assert_eq!(written.removed, 1);
/// assert_eq!(store.records().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct WriteBatch<F: Fingerprint = u64> {
    pub(crate) writes: Vec<Write>,
    width: PhantomData<F>,
}

/// An id of `None` is that of a record that the store numbers or counts, and is invalid otherwise.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    Insert(Words, Option<Id>),
    Remove(Words, Option<Id>),
    RemoveFingerprint(Words),
    RemoveId(Option<Id>),
    Replace(Words, Option<Id>),
}

/// Whether all writes only add records, so that nothing has to be looked up.
pub(crate) fn only_insert(writes: &[Write]) -> bool {
    writes.iter().all(|write| matches!(write, Write::Insert(..)))
}

impl<F: Fingerprint> WriteBatch<F> {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self { writes: Vec::new(), width: PhantomData }
    }

    /// Number of writes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Whether the batch is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Adds a record. With [`IdRef::None`] the store numbers it or, in a store without ids, counts it.
    pub fn insert<'a>(&mut self, fingerprint: F, id: impl Into<IdRef<'a>>) {
        self.writes.push(Write::Insert(to_words(fingerprint), owned(id.into())));
    }

    /// Removes a record, if the store has it; in a store without ids ([`IdRef::None`]), one record of the fingerprint.
    pub fn remove<'a>(&mut self, fingerprint: F, id: impl Into<IdRef<'a>>) {
        self.writes.push(Write::Remove(to_words(fingerprint), owned(id.into())));
    }

    /// Removes all records of a fingerprint.
    pub fn remove_fingerprint(&mut self, fingerprint: F) {
        self.writes.push(Write::RemoveFingerprint(to_words(fingerprint)));
    }

    /// Removes all records of an id. Needs an id index.
    pub fn remove_id<'a>(&mut self, id: impl Into<IdRef<'a>>) {
        self.writes.push(Write::RemoveId(owned(id.into())));
    }

    /// Removes all records of an id and adds one, for a page that was crawled again. Needs an id index.
    pub fn replace<'a>(&mut self, fingerprint: F, id: impl Into<IdRef<'a>>) {
        self.writes.push(Write::Replace(to_words(fingerprint), owned(id.into())));
    }
}

pub(crate) fn owned(id: IdRef<'_>) -> Option<Id> {
    match id {
        IdRef::None => None,
        IdRef::Number(number) => Some(Id::Number(number)),
        IdRef::Text(text) => Some(Id::Text(text.into())),
    }
}

/// The result of a batch of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteSummary {
    /// Number of removed records.
    pub removed: u64,
    /// The number of the first record that the store has numbered, if any. The others follow.
    pub first_number: Option<u64>,
}
