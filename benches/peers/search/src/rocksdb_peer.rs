//! RocksDB: each table is a database of its own, keys without values, bulk-loaded from sorted table files and
//! compacted.
//!
//! A Bloom filter of the 32-bit prefixes avoids reads for most of the 66 ranges, which are empty (it halves the time of
//! a query). Blocks are LZ4, uncompressed in a cache that holds all of them.

use crate::peer::{Index, Peer, Result, Searcher, Sizes};
use crate::permuted::{Prober, Tables, sorted};
use crate::rocksdb_ffi::{Cache, Cursor, Database};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Per fingerprint: more than its two keys take in uncompressed blocks.
const CACHE_BYTES: usize = 64;
/// RocksDB's own files also have 64 MiB by default.
const KEYS_A_FILE: usize = 1 << 22;
/// Bytes of the shared prefix of a range.
const PREFIX: usize = 4;

pub(crate) fn peers(k: u32) -> Vec<Peer> {
    let build = move |values: Vec<u64>, directory: &Path| Ok(Box::new(build(values, directory, k)?) as Box<dyn Index>);
    vec![Peer { name: "rocksdb", build: Box::new(build) }]
}

fn build(values: Vec<u64>, directory: &Path, k: u32) -> Result<Built> {
    let directory = directory.join("rocksdb");
    std::fs::create_dir(&directory)?;
    let cache = Cache::new((values.len() * CACHE_BYTES).max(1 << 26));
    let mut databases = Vec::new();
    for (number, mut keys) in sorted(values, true).into_iter().enumerate() {
        keys.dedup();
        let mut database = Database::create(&directory.join(number.to_string()), PREFIX, &cache)?;
        for part in keys.chunks(KEYS_A_FILE) {
            database.ingest(&directory.join("next.sst"), part.iter().copied())?;
        }
        database.compact();
        databases.push(database);
    }
    Ok(Built { databases, directory, k })
}

struct Built {
    databases: Vec<Database>,
    directory: PathBuf,
    k: u32,
}

impl Index for Built {
    fn searcher(&self) -> Result<Box<dyn Searcher + '_>> {
        let cursors: Vec<_> = self.databases.iter().map(Database::cursor).collect();
        Ok(Box::new(Prober::new(cursors, self.k)))
    }

    fn sizes(&self) -> Result<Sizes> {
        let mut sizes = Sizes::default();
        for number in 0..self.databases.len() {
            for entry in self.directory.join(number.to_string()).read_dir()? {
                sizes.file_bytes += entry?.metadata()?.len();
            }
        }
        Ok(sizes)
    }
}

impl Tables for Vec<Cursor<'_>> {
    fn scan(&mut self, table: usize, keys: RangeInclusive<u64>, mut visit: impl FnMut(u64)) -> Result<()> {
        let cursor = &mut self[table];
        cursor.seek(*keys.start());
        while let Some(key) = cursor.key()?.filter(|key| keys.contains(key)) {
            visit(key);
            cursor.advance();
        }
        Ok(())
    }
}
