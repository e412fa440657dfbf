//! Reads the ids in one column of a Parquet file.

use std::path::Path;

use anyhow::anyhow;

use super::batches::{BATCH, Batches, LOST};
use super::columns::{Ids, check_id};
use super::table::Table;
use crate::input::source::Opened;
use crate::input::{RawId, Source};
use crate::progress::Progress;

/// The rows of a file.
#[derive(Debug)]
pub(in crate::input) struct IdColumn(Batches<Ids>);

impl IdColumn {
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
        let batches = table.batches(&[number], BATCH, |columns| match columns {
            [ids] => Ids::of(ids),
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

    /// Returns the id of the row that [`Self::advance`] came to.
    pub(in crate::input) fn id(&self) -> Result<RawId<'_>, String> {
        let (ids, row) = self.0.row()?;
        ids.get(row)
    }
}
