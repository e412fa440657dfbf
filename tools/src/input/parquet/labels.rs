//! Reads labels and evidence in Parquet files: a record, which is an id or a fingerprint, and more columns a row.

use std::path::Path;

use anyhow::anyhow;
use arrow_schema::DataType;

use super::batches::{BATCH, Batches, LOST};
use super::columns::{Ids, check_id};
use super::table::Table;
use crate::input::labels::cell::{Cell, FINGERPRINT, ID};
use crate::input::{RawId, Source, ToldBy};
use crate::progress::Progress;

/// The decoded columns.
pub(in crate::input) type Labels = Vec<Ids>;

impl Batches<Labels> {
    /// Opens a file with these columns beside the records, each with the names that it may have.
    pub(in crate::input) fn open(
        source: &Source,
        others: &[&[&str]],
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let table = Table::open(source, source.bytes(progress, ToldBy::Content)?, temp_dir, progress)?;
        Self::of(table, others).map_err(|message| anyhow!("{}: {message}", source.name()))
    }

    fn of(table: Table, others: &[&[&str]]) -> Result<Self, String> {
        let record = match table.column(ID)? {
            Some(id) => Some(id),
            None => table.column(FINGERPRINT)?,
        };
        let missing = |name| table.missing(name);
        let mut columns = vec![record.ok_or_else(|| missing(ID))?];
        for names in others {
            let mut found = names.iter().filter_map(|name| table.column(name).transpose());
            columns.push(found.next().ok_or_else(|| missing(names.first().unwrap_or(&"")))??);
        }
        for &number in &columns {
            table.checked(number, |data_type| match data_type {
                DataType::FixedSizeBinary(_) => Ok(()),
                other => check_id(other),
            })?;
        }
        table.batches(&columns, BATCH, |columns| columns.iter().map(|column| Ids::of(column)).collect())
    }

    /// Returns a cell of the row that [`Batches::advance`] came to; the record is cell 0.
    pub(in crate::input) fn cell(&self, number: usize) -> Result<Cell<'_>, String> {
        let (columns, row) = self.row()?;
        let ids = columns.get(number).ok_or(LOST)?;
        Ok(match (ids, ids.get(row)?) {
            (Ids::Fixed(_), RawId::Text(bytes)) => Cell::Raw(bytes),
            (_, RawId::Text(bytes)) => Cell::Bytes(bytes),
            (_, RawId::Number(number)) => Cell::Number(number),
            (_, RawId::None) => Cell::Null,
        })
    }
}
