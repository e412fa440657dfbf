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

/// The decoded columns.
pub(in crate::input) type Attributes = (Ids, Cells);

impl Batches<Attributes> {
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
        table.batches(&[id, value], BATCH, |columns| match columns {
            [ids, values] => Ok((Ids::of(ids)?, Cells::of(values)?)),
            _ => Err(LOST.to_owned()),
        })
    }

    /// Returns the id and the value of the row that [`Batches::advance`] came to.
    pub(in crate::input) fn attribute(&self) -> Result<(RawId<'_>, Value<'_>), String> {
        let ((ids, values), row) = self.row()?;
        Ok((ids.get(row)?, values.get(row)))
    }
}
