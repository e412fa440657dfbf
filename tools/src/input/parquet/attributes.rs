//! Reads a column of ids and one of values.

use std::path::Path;

use anyhow::anyhow;

use super::batches::{BATCH, Batches, LOST};
use super::cells::Cells;
use super::columns::{Ids, check_id};
use super::table::Table;
use crate::input::source::Opened;
use crate::input::{RawId, Selection, Source};
use crate::progress::Progress;
use crate::ranks::Value;

/// The rows of a file.
#[derive(Debug)]
pub(in crate::input) struct Attributes(Batches<(Ids, Cells)>);

impl Attributes {
    pub(in crate::input) fn open(
        source: &Source,
        bytes: Opened,
        selection: &Selection,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let table = Table::open(source, bytes, temp_dir, progress)?;
        Self::of(table, selection).map_err(|message| anyhow!("{}: {message}", source.name()))
    }

    fn of(table: Table, selection: &Selection) -> Result<Self, String> {
        let (value, id) = table.find(selection)?;
        let id = id.ok_or_else(|| table.missing(&selection.id))?;
        table.checked(id, check_id)?;
        table.checked(value, Cells::check)?;
        let batches = table.batches(&[id, value], BATCH, |columns| match columns {
            [ids, values] => Ok((Ids::of(ids)?, Cells::of(values)?)),
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
    pub(in crate::input) fn row(&self) -> Result<(RawId<'_>, Value<'_>), String> {
        let ((ids, values), row) = self.0.row()?;
        Ok((ids.get(row)?, values.get(row)))
    }
}
