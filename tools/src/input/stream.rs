//! Rows of a table in any format, for readers that look at a few columns: ids, attributes, labels, evidence.

use std::sync::Arc;

use super::Place;
use super::csv::Table;
use super::lines::Lines;
use super::parquet::Batches;
use super::values::Values;

/// The rows of one input; `C` is the decoded form of the columns of a batch of Parquet.
#[derive(Debug)]
pub(super) enum Stream<C> {
    /// Lines of columns with TABs between them.
    Lines(Lines),
    Ndjson(Lines),
    Json(Values),
    Csv(Box<Table>),
    Parquet(Box<Batches<C>>),
}

impl<C> Stream<C> {
    /// Advances to the next row; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, String> {
        match self {
            Self::Lines(lines) | Self::Ndjson(lines) => lines.next_filled(),
            Self::Json(values) => values.next_record(),
            Self::Csv(table) => table.next_record(),
            Self::Parquet(rows) => rows.advance(),
        }
    }

    /// The line or the record that [`Self::advance`] came to.
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Lines(lines) | Self::Ndjson(lines) => lines.number(),
            Self::Json(values) => values.number(),
            Self::Csv(table) => table.line(),
            Self::Parquet(rows) => rows.number(),
        }
    }

    #[cold]
    pub(super) fn place(&self, name: &Arc<str>) -> Place {
        let unit = if matches!(self, Self::Parquet(_)) { "record" } else { "line" };
        Place { input: Arc::clone(name), unit, number: self.number() }
    }
}
