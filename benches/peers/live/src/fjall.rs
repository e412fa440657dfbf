//! fjall: two keyspaces, of fingerprints and of rotated fingerprints, keys of 16 bytes without values.

use crate::contestant::{Contestant, DISTANCE, Record, Result};
use crate::ranges::{around, reached, rotate};
use fjall::config::{FilterPolicy, PartitioningPolicy, PinningPolicy, RestartIntervalPolicy};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable, Snapshot};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Prefix lengths to try; see `ranges`.
const PREFIXES: [u32; 10] = [8, 10, 12, 14, 16, 18, 20, 22, 24, 32];

/// `GROUPED`: single inserts share syncs. fjall does not do that; an application can, in ten lines.
pub(crate) struct Fjall<const GROUPED: bool> {
    database: Database,
    tables: [Keyspace; 2],
    /// Bits of the scanned prefixes.
    prefix: u32,
    /// Held during the check and insertion of a record.
    checking: Mutex<()>,
    /// Single inserts in the journal.
    written: AtomicU64,
    /// The number of durable ones; locked during a sync.
    durable: Mutex<u64>,
}

/// The options of a table; all others are fjall's defaults (blocks of 4 KiB, LZ4 from the third level on, memtables of
/// 64 MiB). All reads are of ranges, so filters, which serve single keys, would only cost space. Unpartitioned index
/// blocks in memory, and a restart every 4 keys of a block instead of 16, reduced the time of a query by about a fifth
/// at a million records, for 2 % more bytes. Blocks of 1 to 16 KiB, no compression and memtables of 16 MiB did not
/// help.
fn keyspace() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .filter_policy(FilterPolicy::disabled())
        .index_block_partitioning_policy(PartitioningPolicy::all(false))
        .index_block_pinning_policy(PinningPolicy::all(true))
        .data_block_restart_interval_policy(RestartIntervalPolicy::all(4))
}

fn key(fingerprint: u64, id: u64) -> [u8; 16] {
    (u128::from(fingerprint) << 64 | u128::from(id)).to_be_bytes()
}

impl<const GROUPED: bool> Fjall<GROUPED> {
    fn at(directory: &Path, records: usize) -> Result<Self> {
        // Twice the uncompressed size of both tables, so that queries never read or decompress a block again.
        let cache = (records as u64 * 80).max(1 << 30);
        let database = Database::builder(directory).cache_size(cache).open()?;
        let tables = [database.keyspace("t0", keyspace)?, database.keyspace("t1", keyspace)?];
        let (checking, written, durable) = Default::default();
        Ok(Self { database, tables, prefix: 16, checking, written, durable })
    }

    /// Visits the near records, each once, until the visitor stops.
    fn near(
        &self,
        snapshot: &Snapshot,
        fingerprint: u64,
        mut visit: impl FnMut(Record) -> ControlFlow<()>,
    ) -> Result<()> {
        let first = rotate(fingerprint, 0);
        for (number, table) in self.tables.iter().enumerate() {
            for range in around(rotate(fingerprint, number), self.prefix) {
                for entry in snapshot.range(table, key(*range.start(), 0)..=key(*range.end(), u64::MAX)) {
                    let bytes: [u8; 16] = entry.key()?.as_ref().try_into()?;
                    let record = u128::from_be_bytes(bytes);
                    let found = rotate((record >> 64) as u64, number);
                    if (found ^ fingerprint).count_ones() > DISTANCE
                        || number == 1 && reached(found, first, self.prefix)
                    {
                        continue;
                    }
                    if visit((found, record as u64)).is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

impl<const GROUPED: bool> Contestant for Fjall<GROUPED> {
    const NAME: &'static str = if GROUPED { "fjall-grouped" } else { "fjall" };

    fn create(directory: &Path, records: usize) -> Result<Self> {
        match directory.try_exists()? {
            false => Self::at(directory, records),
            true => Err(format!("{} exists", directory.display()).into()),
        }
    }

    fn open(directory: &Path, records: usize) -> Result<Self> {
        Self::at(directory, records)
    }

    /// Writes sorted keys straight into tables, past journal and memtable; one thread per table.
    fn load(&self, fingerprints: &[u64]) -> Result<()> {
        let load = |number: usize, table: &Keyspace| -> Result<()> {
            let mut keys: Vec<Record> =
                (0..).zip(fingerprints).map(|(id, &value)| (rotate(value, number), id)).collect();
            keys.sort_unstable();
            let mut ingestion = table.start_ingestion()?;
            for (value, id) in keys {
                ingestion.write(key(value, id), [])?;
            }
            Ok(ingestion.finish()?)
        };
        std::thread::scope(|scope| {
            let [first, second] = &self.tables;
            let other = scope.spawn(|| load(1, second));
            load(0, first)?;
            other.join().map_err(|_| "a thread panicked")?
        })
    }

    /// The prefix length with the least median time.
    fn tune(&mut self, queries: &[u64]) -> Result<String> {
        let mut medians = Vec::new();
        for prefix in PREFIXES {
            self.prefix = prefix;
            let mut times = Vec::new();
            let end = Instant::now() + Duration::from_secs(2);
            for &query in queries.iter().take_while(|_| Instant::now() < end) {
                let start = Instant::now();
                self.query(query)?;
                times.push(start.elapsed());
            }
            times.sort_unstable();
            medians.push((times.get(times.len() / 2).copied().unwrap_or(Duration::MAX), prefix));
        }
        self.prefix = medians.iter().min().map_or(self.prefix, |median| median.1);
        let tried: Vec<_> =
            medians.iter().map(|(time, prefix)| format!("{prefix}: {:.0}", time.as_secs_f64() * 1e6)).collect();
        Ok(format!("prefix of {} bits; us a query, {}", self.prefix, tried.join(", ")))
    }

    fn insert_batch(&self, records: &[Record], durable: bool) -> Result<()> {
        let mode = if durable { PersistMode::SyncData } else { PersistMode::Buffer };
        let mut batch = self.database.batch().durability(Some(mode));
        for &(fingerprint, id) in records {
            for (number, table) in self.tables.iter().enumerate() {
                batch.insert(table, key(rotate(fingerprint, number), id), []);
            }
        }
        Ok(batch.commit()?)
    }

    fn insert_one_durable(&self, record: Record) -> Result<()> {
        if !GROUPED {
            return self.insert_batch(&[record], true);
        }
        self.insert_batch(&[record], false)?;
        let own = 1 + self.written.fetch_add(1, Ordering::SeqCst);
        // Lets other threads write first; otherwise each would sync only its own record.
        std::thread::yield_now();
        let mut durable = self.durable.lock().unwrap_or_else(PoisonError::into_inner);
        if *durable < own {
            let all = self.written.load(Ordering::SeqCst);
            self.database.persist(PersistMode::SyncData)?;
            *durable = all;
        }
        Ok(())
    }

    fn insert_if_new(&self, record: Record) -> Result<bool> {
        let _checking = self.checking.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new = true;
        self.near(&self.database.snapshot(), record.0, |_| {
            new = false;
            ControlFlow::Break(())
        })?;
        if new {
            self.insert_batch(&[record], false)?;
        }
        Ok(new)
    }

    fn query(&self, fingerprint: u64) -> Result<Vec<Record>> {
        let mut found = Vec::new();
        self.near(&self.database.snapshot(), fingerprint, |record| {
            found.push(record);
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Flushes the memtables, then merges each table into its last level.
    fn compact(&self) -> Result<()> {
        for table in &self.tables {
            table.rotate_memtable_and_wait()?;
            table.major_compact()?;
        }
        Ok(())
    }

    fn table_bytes(&self) -> Result<u64> {
        Ok(self.tables.iter().map(Keyspace::disk_space).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Random, Sample};

    /// Families of values: loaded, inserted, and inserted if new, compared with a scan.
    #[test]
    fn finds_what_a_scan_finds() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let random = &mut Random(1);
        let mut values: Vec<u64> = (0..200).map(|_| random.next()).collect();
        values.extend(Sample::of(&values).mixed(2000, 2));
        let mut store = Fjall::<true>::create(&folder.path().join("store"), values.len())?;
        store.load(&values)?;
        let scan = |all: &[u64], value: u64| -> Vec<Record> {
            let near = all.iter().copied().zip(0..).filter(|(stored, _)| (stored ^ value).count_ones() <= DISTANCE);
            near.collect()
        };
        for (number, value) in Sample::of(&values).mixed(400, 3).into_iter().enumerate() {
            store.prefix = PREFIXES[number % PREFIXES.len()];
            let mut found = store.query(value)?;
            found.sort_unstable_by_key(|record| record.1);
            let expected = scan(&values, value);
            assert_eq!(found, expected);
            let record = (value, values.len() as u64);
            let inserted = match number % 4 {
                0 | 1 => store.insert_if_new(record)?,
                2 => store.insert_one_durable(record).map(|()| true)?,
                _ => store.insert_batch(&[record], false).map(|()| true)?,
            };
            assert!(inserted == expected.is_empty() || number % 4 > 1);
            if inserted {
                values.push(value);
            }
            if number == 200 {
                store.compact()?;
            }
        }
        Ok(())
    }
}
