//! Writes of records and batches; the records of a known fingerprint or id.

use super::Store;
use crate::db::{InsertOutcome, WriteBatch, WriteSummary, owned};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, IdRef};
use crate::wal::Durability;

impl<F: Fingerprint> Store<F> {
    /// Adds a record; adding a present one changes nothing. The id is [`IdRef::None`] if the store has no ids or
    /// numbers its records; [`Store::insert_numbered`] returns the number.
    ///
    /// # Errors
    /// `InvalidInput` if the id does not suit the store; `ReadOnly`, `Poisoned`; `Io`.
    pub fn insert<'a>(&self, fingerprint: F, id: impl Into<IdRef<'a>>, durability: Durability) -> Result<()> {
        self.write_batch(durability, |batch| batch.insert(fingerprint, id)).map(drop)
    }

    /// Adds a record that the store numbers, and returns the number.
    ///
    /// # Errors
    /// Those of [`Store::insert`].
    pub fn insert_numbered(&self, fingerprint: F, durability: Durability) -> Result<u64> {
        let number = self.write_batch(durability, |batch| batch.insert(fingerprint, IdRef::None))?.first_number;
        number.ok_or_else(|| Error::invalid("the store has no numbers for its records").at_path(self.path()))
    }

    /// Adds records as one batch.
    ///
    /// # Errors
    /// Those of [`Store::write`].
    pub fn insert_many<'a, I: Into<IdRef<'a>>>(
        &self,
        records: impl IntoIterator<Item = (F, I)>,
        durability: Durability,
    ) -> Result<()> {
        let records = records.into_iter();
        self.write_batch(durability, |batch| records.for_each(|(fingerprint, id)| batch.insert(fingerprint, id)))
            .map(drop)
    }

    /// Removes a record; whether it was there. Without ids, lowers the count of the fingerprint by one.
    ///
    /// # Errors
    /// Those of [`Store::insert`]; `Damaged` or `Io` from reading.
    pub fn remove<'a>(&self, fingerprint: F, id: impl Into<IdRef<'a>>, durability: Durability) -> Result<bool> {
        self.write_batch(durability, |batch| batch.remove(fingerprint, id)).map(|written| written.removed > 0)
    }

    /// Removes all records of a fingerprint, and returns their number.
    ///
    /// # Errors
    /// Those of [`Store::remove`].
    pub fn remove_fingerprint(&self, fingerprint: F, durability: Durability) -> Result<u64> {
        self.write_batch(durability, |batch| batch.remove_fingerprint(fingerprint)).map(|written| written.removed)
    }

    /// Removes all records of an id, and returns their number.
    ///
    /// # Errors
    /// Those of [`Store::remove`]; `Unsupported` if the store has no id index ([`crate::Parameters::with_id_index`]).
    pub fn remove_id<'a>(&self, id: impl Into<IdRef<'a>>, durability: Durability) -> Result<u64> {
        self.write_batch(durability, |batch| batch.remove_id(id)).map(|written| written.removed)
    }

    /// Gives a document another fingerprint in one step: removes its records and adds one. Returns the number of
    /// removed records with other fingerprints.
    ///
    /// # Errors
    /// Those of [`Store::remove_id`].
    pub fn replace<'a>(&self, fingerprint: F, id: impl Into<IdRef<'a>>, durability: Durability) -> Result<u64> {
        self.write_batch(durability, |batch| batch.replace(fingerprint, id)).map(|written| written.removed)
    }

    fn write_batch(&self, durability: Durability, fill: impl FnOnce(&mut WriteBatch<F>)) -> Result<WriteSummary> {
        let mut batch = WriteBatch::new();
        fill(&mut batch);
        self.write(&batch, durability)
    }

    /// Makes all writes of a batch, or none, and returns once they are as durable as requested.
    ///
    /// # Errors
    /// `InvalidInput` if the store cannot take one of the writes, or the batch exceeds 256 MiB; `Unsupported` if one of
    /// them needs an id index and the store has none; `ReadOnly`, `Poisoned`; `Damaged` or `Io` from reading; `Io` from
    /// writing: nothing was written then, unless a sync has failed, which poisons the store.
    pub fn write(&self, batch: &WriteBatch<F>, durability: Durability) -> Result<WriteSummary> {
        self.inner().write(&batch.writes, durability)
    }

    /// Adds a record unless there is one within distance `k` that has another id: the crawler's operation. No other
    /// write comes between the search and the insertion. Returns one of the near records, of the nearest fingerprint,
    /// once it is as durable as requested.
    ///
    /// ```
    /// use fpstore::{Durability, Options, Parameters, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
    /// assert!(store.insert_if_new(0b0000, 1, 3, Durability::Buffered)?.inserted);
    /// let seen = store.insert_if_new(0b0111, 2, 3, Durability::Buffered)?;
    /// assert!(!seen.inserted && seen.duplicates[0].id == 1);
    /// // The same page again, a little changed: its own earlier state is no duplicate.
    /// let again = store.insert_if_new(0b0001, 1, 3, Durability::Buffered)?;
    /// assert!(again.inserted && again.own[0].fingerprint == 0b0000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width, or the id does not suit the store; those of [`Store::write`].
    pub fn insert_if_new<'a>(
        &self,
        fingerprint: F,
        id: impl Into<IdRef<'a>>,
        k: u32,
        durability: Durability,
    ) -> Result<InsertOutcome<F>> {
        self.insert_if_new_naming(fingerprint, id, k, 1, durability)
    }

    /// As [`Store::insert_if_new`], and returns up to `most` of the near records, at least one.
    ///
    /// # Errors
    /// Those of [`Store::insert_if_new`].
    pub fn insert_if_new_naming<'a>(
        &self,
        fingerprint: F,
        id: impl Into<IdRef<'a>>,
        k: u32,
        most: usize,
        durability: Durability,
    ) -> Result<InsertOutcome<F>> {
        self.inner().insert_if_new(fingerprint, owned(id.into()), (k, most), durability)
    }

    /// The fingerprints of an id, in ascending order.
    ///
    /// # Errors
    /// `Unsupported` if the store has no id index ([`crate::Parameters::with_id_index`]); `Damaged` or `Io` from
    /// reading.
    pub fn get_id<'a>(&self, id: impl Into<IdRef<'a>>) -> Result<Vec<F>> {
        self.inner().context.check_id_index()?;
        let id = owned(id.into());
        self.inner().check_id(id.as_ref(), true)?;
        id.map_or(Ok(Vec::new()), |id| self.inner().ask(|searcher| searcher.fingerprints_of(&id)))
    }

    /// The ids of a fingerprint in order; in a store without ids, its count.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub fn get(&self, fingerprint: F) -> Result<Vec<Id>> {
        self.inner().ask(|searcher| searcher.ids_of(fingerprint))
    }

    /// Makes all earlier writes durable.
    ///
    /// # Errors
    /// `ReadOnly`, `Poisoned`; `Io`.
    pub fn sync(&self, durability: Durability) -> Result<()> {
        self.inner().make_durable(durability)
    }

    /// Waits until the background threads have no work left. Returns at once without such threads
    /// ([`crate::Maintenance`], and stores that are open for reading).
    ///
    /// # Errors
    /// `Poisoned` if they have failed.
    pub fn wait_for_maintenance(&self) -> Result<()> {
        self.inner().wait_until_idle(self.handle.background.as_ref())
    }

    /// Moves the content of all memtables to segments, durably.
    ///
    /// # Errors
    /// `ReadOnly`, `Poisoned`; `Io`.
    pub fn flush(&self) -> Result<()> {
        self.inner().flush()
    }
}
