//! redb: both tables as B-trees in one file, keys without values, inserted in order in one durable transaction.

use crate::peer::{Index, Peer, Result, Searcher, Sizes};
use crate::permuted::{Prober, Tables, sorted};
use redb::{Database, ReadOnlyTable, ReadableDatabase, TableDefinition};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

const TABLES: [TableDefinition<u64, ()>; 2] = [TableDefinition::new("0"), TableDefinition::new("1")];

/// Size of redb's own cache per fingerprint: more than the file, so that queries read nothing.
const CACHE_BYTES: usize = 64;

pub(crate) fn peers(k: u32) -> Vec<Peer> {
    vec![Peer { name: "redb", build: Box::new(move |values, directory| Ok(Box::new(build(values, directory, k)?))) }]
}

fn build(values: Vec<u64>, directory: &Path, k: u32) -> Result<Built> {
    let path = directory.join("redb");
    let cache = (values.len() * CACHE_BYTES).max(1 << 30);
    let mut database = Database::builder().set_cache_size(cache).create(&path)?;
    let transaction = database.begin_write()?;
    for (definition, keys) in TABLES.iter().zip(sorted(values, true)) {
        let mut table = transaction.open_table(*definition)?;
        for key in keys {
            table.insert(key, ())?;
        }
    }
    transaction.commit()?;
    database.compact()?;
    Ok(Built { database, path, k })
}

struct Built {
    database: Database,
    path: PathBuf,
    k: u32,
}

impl Index for Built {
    fn searcher(&self) -> Result<Box<dyn Searcher + '_>> {
        let transaction = self.database.begin_read()?;
        let tables = [transaction.open_table(TABLES[0])?, transaction.open_table(TABLES[1])?];
        Ok(Box::new(Prober::new(tables, self.k)))
    }

    fn sizes(&self) -> Result<Sizes> {
        Ok(Sizes { file_bytes: self.path.metadata()?.len(), resident_bytes: None })
    }
}

impl Tables for [ReadOnlyTable<u64, ()>; 2] {
    fn scan(&mut self, table: usize, keys: RangeInclusive<u64>, mut visit: impl FnMut(u64)) -> Result<()> {
        for entry in self[table].range(keys)? {
            visit(entry?.0.value());
        }
        Ok(())
    }
}
