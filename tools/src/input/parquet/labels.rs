//! Labels in Parquet files: a record and its cluster a row, both ids, or both fingerprints.

use std::path::Path;

use anyhow::anyhow;
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::columns::{Ids, check_id};
use super::file::ParquetFile;
use super::guard::guarded;
use super::{BATCH, RawId, Source, column, metadata, missing, with_views};
use crate::input::labels::{CLUSTER, Cell, FINGERPRINT, ID};
use crate::progress::Progress;

/// The rows of a file.
#[derive(Debug)]
pub(in crate::input) struct Labels {
    batches: ParquetRecordBatchReader,
    /// Where the record is in a batch, and where the cluster.
    places: [usize; 2],
    cells: [Ids; 2],
    length: usize,
    /// The row in the batch.
    row: usize,
    /// Number of the row; the first is 1.
    number: u64,
}

impl Labels {
    pub(in crate::input) fn open(
        source: &Source,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let file = ParquetFile::open(source, temp_dir, progress)?;
        Self::of(file).map_err(|message| anyhow!("{}: {message}", source.name()))
    }

    fn of(file: ParquetFile) -> Result<Self, String> {
        let found = metadata(&file)?;
        let schema = found.schema();
        let record = match column(schema, ID)? {
            Some(id) => Some(id),
            None => column(schema, FINGERPRINT)?,
        };
        let record = record.ok_or_else(|| missing(schema, ID))?;
        let cluster = column(schema, CLUSTER)?.ok_or_else(|| missing(schema, CLUSTER))?;
        for number in [record, cluster] {
            match schema.fields().get(number).map(|field| (field.name(), field.data_type())) {
                Some((_, DataType::FixedSizeBinary(_))) | None => {}
                Some((name, other)) => check_id(other).map_err(|error| format!("column \"{name}\": {error}"))?,
            }
        }
        let metadata = with_views(&found, |number| number == record || number == cluster)?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let mask = ProjectionMask::roots(builder.parquet_schema(), [record, cluster]);
        let batches = guarded(|| builder.with_projection(mask).with_batch_size(BATCH).build())?;
        let places = [usize::from(cluster < record), usize::from(record < cluster)];
        Ok(Self { batches, places, cells: Default::default(), length: 0, row: 0, number: 0 })
    }

    /// Number of the row that [`Self::advance`] came to last, or failed on; the first is 1.
    pub(in crate::input) fn number(&self) -> u64 {
        self.number
    }

    /// Goes on to the next row; `false` at the end of the file.
    pub(in crate::input) fn advance(&mut self) -> Result<bool, String> {
        self.number += 1;
        self.row += 1;
        while self.row >= self.length {
            let batch = guarded(|| self.batches.next().transpose());
            let batch = batch.map_err(|error| format!("this row or one soon after it cannot be read: {error}"))?;
            let Some(batch) = batch else { return Ok(false) };
            for (cells, &place) in self.cells.iter_mut().zip(&self.places) {
                *cells = Ids::of(batch.columns().get(place).ok_or("the file has lost a column")?)?;
            }
            (self.length, self.row) = (batch.num_rows(), 0);
        }
        Ok(true)
    }

    /// The row that [`Self::advance`] came to.
    pub(in crate::input) fn row(&self) -> Result<[Cell<'_>; 2], String> {
        fn cell(ids: &Ids, row: usize) -> Result<Cell<'_>, String> {
            Ok(match (ids, ids.get(row)?) {
                (Ids::Fixed(_), RawId::Text(bytes)) => Cell::Raw(bytes),
                (_, RawId::Text(bytes)) => Cell::Bytes(bytes),
                (_, RawId::Number(number)) => Cell::Number(number),
                (_, RawId::None) => Cell::Null,
            })
        }
        let [record, cluster] = &self.cells;
        Ok([cell(record, self.row)?, cell(cluster, self.row)?])
    }
}
