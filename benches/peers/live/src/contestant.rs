//! The operations of a store under concurrent writes. All measurements use this trait.

use std::path::Path;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A fingerprint and the id of its record.
pub(crate) type Record = (u64, u64);

/// The distance of all queries and checks.
pub(crate) const DISTANCE: u32 = 3;

pub(crate) trait Contestant: Sized + Sync {
    const NAME: &'static str;

    /// Creates a store for about `records` records in a directory that does not exist.
    fn create(directory: &Path, records: usize) -> Result<Self>;

    /// Opens a store that `create` made with the same number.
    fn open(directory: &Path, records: usize) -> Result<Self>;

    /// Fills an empty store by its fastest method. Ids are positions.
    fn load(&self, fingerprints: &[u64]) -> Result<()>;

    /// Chooses the parameters that depend on the stored data, with queries like those of the measurement; returns the
    /// choice.
    fn tune(&mut self, queries: &[u64]) -> Result<String>;

    /// Inserts all of the records or none. With `durable`, they survive a power failure once it returns; otherwise they
    /// survive the end of this process.
    fn insert_batch(&self, records: &[Record], durable: bool) -> Result<()>;

    /// Inserts one record, which survives a power failure once it returns. Many threads call it.
    fn insert_one_durable(&self, record: Record) -> Result<()>;

    /// Inserts the record unless a stored fingerprint is within the distance; returns whether it did. Check and
    /// insertion are one atomic step. Durable like `insert_batch` without `durable`.
    fn insert_if_new(&self, record: Record) -> Result<bool>;

    /// All records within the distance, in any order, each once. Sees all earlier inserts.
    fn query(&self, fingerprint: u64) -> Result<Vec<Record>>;

    /// Reduces the files to their smallest size, and returns when that is done.
    fn compact(&self) -> Result<()>;

    /// Bytes of the tables by the store's own count, without data that is only in a journal.
    fn table_bytes(&self) -> Result<u64>;
}
