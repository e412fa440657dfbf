//! Goes through the rows of some columns of a Parquet file, of which a batch is decoded at a time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use arrow_array::ArrayRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::file::ParquetFile;
use super::guard::guarded;

/// Rows that are decoded at a time.
pub(super) const BATCH: usize = 8192;

/// The error of a batch that has not the columns of the first.
pub(crate) const LOST: &str = "the file has lost a column";

/// The rows of a file; `C` is what the columns of a batch are decoded to.
pub(crate) struct Batches<C> {
    reader: ParquetRecordBatchReader,
    /// Where in a batch the columns stand that are wanted.
    places: Vec<usize>,
    decode: fn(&[&ArrayRef]) -> Result<C, String>,
    columns: Option<C>,
    length: usize,
    /// The row in the batch.
    row: usize,
    /// Number of the row; the first is 1.
    number: u64,
    pages: Pages,
}

/// The pages that were read: they are in memory as a whole, whatever a batch takes of them.
pub(super) struct Pages {
    /// Bytes of the longest, as it is stored.
    pub(super) longest: Arc<AtomicU64>,
    /// Bytes of all of them, as they are stored and decompressed.
    pub(super) sizes: (u64, u64),
}

impl<C> Batches<C> {
    /// Rows of these columns.
    pub(super) fn new(
        builder: ParquetRecordBatchReaderBuilder<ParquetFile>,
        columns: &[usize],
        rows: usize,
        decode: fn(&[&ArrayRef]) -> Result<C, String>,
        pages: Pages,
    ) -> Result<Self, String> {
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let reader = guarded(|| builder.with_projection(mask).with_batch_size(rows).build())?;
        // A batch has them once each, in the order of the file.
        let mut sorted = columns.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let places = columns.iter().map(|column| sorted.partition_point(|other| other < column)).collect();
        Ok(Self { reader, places, decode, columns: None, length: 0, row: 0, number: 0, pages })
    }

    /// Number of the row that [`Self::advance`] came to last, or failed on; the first is 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Bytes of memory that pages have taken so far, at most and about: one as it is stored, the same decompressed, and the
    /// one before it.
    pub(crate) fn page_memory(&self) -> u64 {
        let ((stored, plain), longest) = (self.pages.sizes, self.pages.longest.load(Relaxed));
        let decompressed = u128::from(longest) * u128::from(plain) / u128::from(stored.max(1));
        longest.saturating_add(u64::try_from(2 * decompressed).unwrap_or(u64::MAX))
    }

    /// Goes on to the next row; `false` at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<bool, String> {
        self.number += 1;
        self.row += 1;
        while self.row >= self.length {
            // Not two batches at once.
            self.columns = None;
            let batch = guarded(|| self.reader.next().transpose());
            let batch = batch.map_err(|error| format!("this row or one soon after it cannot be read: {error}"))?;
            let Some(batch) = batch else { return Ok(false) };
            let column = |place: &usize| batch.columns().get(*place).ok_or(LOST);
            let columns: Vec<&ArrayRef> = self.places.iter().map(column).collect::<Result<_, _>>()?;
            self.columns = Some((self.decode)(&columns)?);
            (self.length, self.row) = (batch.num_rows(), 0);
        }
        Ok(true)
    }

    /// The columns of the row that [`Self::advance`] came to, and its place in them.
    pub(crate) fn row(&self) -> Result<(&C, usize), String> {
        self.columns.as_ref().map(|columns| (columns, self.row)).ok_or_else(|| "there is no row".to_owned())
    }
}

impl<C> fmt::Debug for Batches<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").field("places", &self.places).field("number", &self.number).finish_non_exhaustive()
    }
}
