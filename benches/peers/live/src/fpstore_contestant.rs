//! fpstore, with its defaults.

use crate::contestant::{Contestant, DISTANCE, Record, Result};
use fpstore::{Durability, Options, Parameters, Records, Store, WriteBatch};
use std::path::Path;

pub(crate) struct Fpstore(Store<u64>);

impl Contestant for Fpstore {
    const NAME: &'static str = "fpstore";

    fn create(directory: &Path, _records: usize) -> Result<Self> {
        Ok(Self(Store::create(directory, &Parameters::new(DISTANCE), &Options::new())?))
    }

    fn open(directory: &Path, _records: usize) -> Result<Self> {
        Ok(Self(Store::open(directory, &Options::new())?))
    }

    fn load(&self, fingerprints: &[u64]) -> Result<()> {
        let records: Vec<Record> = fingerprints.iter().copied().zip(0..).collect();
        let records = records.into_iter().map(|(fingerprint, id)| fpstore::Record::new(fingerprint, id)).collect();
        self.0.bulk_load(Records::WithIds(records))?;
        Ok(())
    }

    /// The plan is fixed at creation.
    fn tune(&mut self, _queries: &[u64]) -> Result<String> {
        // Measures queries in the steady state of an open store.
        self.0.wait_for_filters();
        Ok("nothing to choose".into())
    }

    fn insert_batch(&self, records: &[Record], durable: bool) -> Result<()> {
        let mut batch = WriteBatch::new();
        for &(fingerprint, id) in records {
            batch.insert(fingerprint, id);
        }
        let durability = if durable { Durability::SyncData } else { Durability::Buffered };
        self.0.write(&batch, durability)?;
        Ok(())
    }

    fn insert_one_durable(&self, record: Record) -> Result<()> {
        self.insert_batch(&[record], true)
    }

    fn insert_if_new(&self, (fingerprint, id): Record) -> Result<bool> {
        Ok(self.0.insert_if_new(fingerprint, id, DISTANCE, Durability::Buffered)?.inserted)
    }

    fn query(&self, fingerprint: u64) -> Result<Vec<Record>> {
        let found = self.0.query(fingerprint, DISTANCE)?;
        Ok(found.iter().filter_map(|one| Some((one.fingerprint, one.id.number()?))).collect())
    }

    fn compact(&self) -> Result<()> {
        self.0.compact()?;
        Ok(())
    }

    fn table_bytes(&self) -> Result<u64> {
        let statistics = self.0.statistics();
        Ok(statistics.file_bytes - statistics.log_bytes)
    }
}
