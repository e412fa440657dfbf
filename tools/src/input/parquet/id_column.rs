//! Reads the ids in one column of a Parquet file.

use std::path::Path;

use anyhow::anyhow;

use super::batches::{BATCH, Batches, LOST};
use super::columns::{Ids, check_id};
use super::table::Table;
use crate::input::source::Opened;
use crate::input::{RawId, Source};
use crate::progress::Progress;

/// The decoded column.
pub(in crate::input) type IdColumn = Ids;

impl Batches<IdColumn> {
    pub(in crate::input) fn open(
        source: &Source,
        bytes: Opened,
        column: &str,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let table = Table::open(source, bytes, temp_dir, progress)?;
        Self::of(table, column).map_err(|message| anyhow!("{}: {message}", source.name()))
    }

    fn of(table: Table, column: &str) -> Result<Self, String> {
        let number = table.column(column)?.ok_or_else(|| table.missing(column))?;
        table.checked(number, check_id)?;
        table.batches(&[number], BATCH, |columns| match columns {
            [ids] => Ids::of(ids),
            _ => Err(LOST.to_owned()),
        })
    }

    /// Returns the id of the row that [`Batches::advance`] came to.
    pub(in crate::input) fn id(&self) -> Result<RawId<'_>, String> {
        let (ids, row) = self.row()?;
        ids.get(row)
    }
}
