//! What is asked of a store that takes writes while it lives. Every measurement is written against this.

use std::path::Path;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A fingerprint and the id of its record.
pub(crate) type Record = (u64, u64);

/// The distance of all queries and checks.
pub(crate) const DISTANCE: u32 = 3;

pub(crate) trait Contestant: Sized + Sync {
    const NAME: &'static str;

    /// Makes a store in a directory that does not exist, which is to hold about so many records.
    fn create(directory: &Path, records: usize) -> Result<Self>;

    /// Opens one that `create` made with the same number.
    fn open(directory: &Path, records: usize) -> Result<Self>;

    /// Fills an empty store in its fastest way. Ids are positions.
    fn load(&self, fingerprints: &[u64]) -> Result<()>;

    /// Chooses what depends on the data that are stored now, with queries like those that will be asked, and says what
    /// it chose.
    fn tune(&mut self, queries: &[u64]) -> Result<String>;

    /// Inserts all of the records or none. `durable`: when it returns, they survive a loss of power; else they survive
    /// the end of this process.
    fn insert_batch(&self, records: &[Record], durable: bool) -> Result<()>;

    /// Inserts one record, which survives a loss of power when it returns. Called by many threads.
    fn insert_one_durable(&self, record: Record) -> Result<()>;

    /// Inserts the record unless a stored fingerprint is within the distance; whether it did. Check and insertion are
    /// one step for all who call this. Not durable one by one, like `insert_batch` without `durable`.
    fn insert_if_new(&self, record: Record) -> Result<bool>;

    /// All records within the distance, in any order, each once. Sees what was inserted before it was called.
    fn query(&self, fingerprint: u64) -> Result<Vec<Record>>;

    /// Brings the files to their smallest, and returns when that is done.
    fn compact(&self) -> Result<()>;

    /// Bytes of the tables by the store's own count, without what is only in a journal.
    fn table_bytes(&self) -> Result<u64>;
}
