//! Reads labels in Parquet files: a record and its cluster a row, both ids or both fingerprints.

use std::path::Path;

use anyhow::anyhow;
use arrow_schema::DataType;

use super::batches::{BATCH, Batches, LOST};
use super::columns::{Ids, check_id};
use super::table::Table;
use crate::input::labels::cell::{CLUSTER, Cell, FINGERPRINT, ID};
use crate::input::{RawId, Source, ToldBy};
use crate::progress::Progress;

/// The rows of a file.
#[derive(Debug)]
pub(in crate::input) struct Labels(Batches<[Ids; 2]>);

impl Labels {
    pub(in crate::input) fn open(
        source: &Source,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let table = Table::open(source, source.bytes(progress, ToldBy::Content)?, temp_dir, progress)?;
        Self::of(table).map_err(|message| anyhow!("{}: {message}", source.name()))
    }

    fn of(table: Table) -> Result<Self, String> {
        let record = match table.column(ID)? {
            Some(id) => Some(id),
            None => table.column(FINGERPRINT)?,
        };
        let missing = |name| table.missing(name);
        let record = record.ok_or_else(|| missing(ID))?;
        let cluster = table.column(CLUSTER)?.ok_or_else(|| missing(CLUSTER))?;
        for number in [record, cluster] {
            table.checked(number, |data_type| match data_type {
                DataType::FixedSizeBinary(_) => Ok(()),
                other => check_id(other),
            })?;
        }
        let batches = table.batches(&[record, cluster], BATCH, |columns| match columns {
            [record, cluster] => Ok([Ids::of(record)?, Ids::of(cluster)?]),
            _ => Err(LOST.to_owned()),
        })?;
        Ok(Self(batches))
    }

    /// Number of the row that [`Self::advance`] came to last, or failed on; the first is 1.
    pub(in crate::input) fn number(&self) -> u64 {
        self.0.number()
    }

    /// Advances to the next row; `false` at the end of the file.
    pub(in crate::input) fn advance(&mut self) -> Result<bool, String> {
        self.0.advance()
    }

    /// Returns the row that [`Self::advance`] came to.
    pub(in crate::input) fn row(&self) -> Result<[Cell<'_>; 2], String> {
        fn cell(ids: &Ids, row: usize) -> Result<Cell<'_>, String> {
            Ok(match (ids, ids.get(row)?) {
                (Ids::Fixed(_), RawId::Text(bytes)) => Cell::Raw(bytes),
                (_, RawId::Text(bytes)) => Cell::Bytes(bytes),
                (_, RawId::Number(number)) => Cell::Number(number),
                (_, RawId::None) => Cell::Null,
            })
        }
        let ([record, cluster], row) = self.0.row()?;
        Ok([cell(record, row)?, cell(cluster, row)?])
    }
}
