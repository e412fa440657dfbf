//! Reads one column of values that have an order.

use std::sync::Arc;

use anyhow::{Context, anyhow};

use crate::documents::DocumentOptions;
use crate::documents::limits::BATCH;
use crate::documents::recognised::Recognised;
use crate::input::Place;
use crate::input::parquet::cells::Cells;
use crate::input::parquet::{Batches, LOST, Table};
use crate::progress::Progress;
use crate::ranks::Value;

/// The values of a file.
pub(in crate::documents) struct Values {
    name: Arc<str>,
    batches: Batches<Cells>,
}

impl Values {
    pub(in crate::documents) fn open(
        found: Recognised,
        column: &str,
        options: &DocumentOptions,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let Recognised { source, bytes, .. } = found;
        let table = Table::open(&source, bytes, options.temp_dir.as_deref(), progress)?;
        let batches = Self::batches(table, column).map_err(|message| anyhow!("{}: {message}", source.name()))?;
        Ok(Self { name: source.name().into(), batches })
    }

    fn batches(table: Table, column: &str) -> Result<Batches<Cells>, String> {
        let number = table.column(column)?.ok_or_else(|| table.missing(column))?;
        table.checked(number, Cells::check)?;
        table.batches(&[number], BATCH, |columns| {
            columns.first().map_or(Err(LOST.to_owned()), |column| Cells::of(column))
        })
    }

    /// Advances to the next row; `false` at the end of the file.
    pub(in crate::documents) fn advance(&mut self) -> anyhow::Result<bool> {
        self.batches.advance().map_err(|message| self.place().error(message))
    }

    /// Passes the value of the row on.
    pub(in crate::documents) fn take(&self, take: impl FnOnce(Value<'_>) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let (cells, row) = self.batches.row().map_err(anyhow::Error::msg)?;
        take(cells.get(row)).with_context(|| self.place().to_string())
    }

    fn place(&self) -> Place {
        Place { input: Arc::clone(&self.name), unit: "record", number: self.batches.number() }
    }
}
