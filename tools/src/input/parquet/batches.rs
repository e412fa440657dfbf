//! Reads the rows of some columns of a Parquet file, decoding a batch at a time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use arrow_array::{ArrayRef, RecordBatchReader};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::file::ParquetFile;
use super::guard::guarded;

/// Rows of a batch.
pub(super) const BATCH: usize = 8192;

/// Error of a batch without the columns of the first one.
pub(crate) const LOST: &str = "the file has lost a column";

/// The rows of a file; `C` is the decoded form of the columns of a batch.
pub(crate) struct Batches<C> {
    reader: ParquetRecordBatchReader,
    /// Positions of the wanted columns in a batch.
    places: Vec<usize>,
    decode: fn(&[&ArrayRef]) -> Result<C, String>,
    columns: Option<C>,
    length: usize,
    /// Index of the row in the batch.
    row: usize,
    /// Number of the row; the first is 1.
    number: u64,
    pages: Pages,
}

/// Pages that were read. A page is in memory as a whole, however little a batch takes of it.
pub(super) struct Pages {
    /// Stored bytes of the longest page.
    pub(super) longest: Arc<AtomicU64>,
    /// Bytes of all pages, stored and decompressed.
    pub(super) sizes: (u64, u64),
}

impl<C> Batches<C> {
    /// Whether a column has this name; they are numbered in the order in which they were wanted.
    pub(in crate::input) fn has_name(&self, number: usize, name: &str) -> bool {
        let schema = self.reader.schema();
        self.places.get(number).and_then(|place| schema.fields().get(*place)).is_some_and(|field| field.name() == name)
    }

    /// Returns a reader of these columns.
    pub(super) fn new(
        builder: ParquetRecordBatchReaderBuilder<ParquetFile>,
        columns: &[usize],
        rows: usize,
        decode: fn(&[&ArrayRef]) -> Result<C, String>,
        pages: Pages,
    ) -> Result<Self, String> {
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let reader = guarded(|| builder.with_projection(mask).with_batch_size(rows).build())?;
        // A batch holds each column once, in the order of the file.
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

    /// Most memory that pages have taken so far, in bytes and approximately: a stored page, its decompressed form, and
    /// the page before it.
    pub(crate) fn page_memory(&self) -> u64 {
        let ((stored, plain), longest) = (self.pages.sizes, self.pages.longest.load(Relaxed));
        let decompressed = u128::from(longest) * u128::from(plain) / u128::from(stored.max(1));
        longest.saturating_add(u64::try_from(2 * decompressed).unwrap_or(u64::MAX))
    }

    /// Advances to the next row; `false` at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<bool, String> {
        self.number += 1;
        self.row += 1;
        while self.row >= self.length {
            // Release the previous batch before decoding the next.
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

    /// Returns the columns of the row that [`Self::advance`] came to, and the index of the row in them.
    pub(crate) fn row(&self) -> Result<(&C, usize), String> {
        self.columns.as_ref().map(|columns| (columns, self.row)).ok_or_else(|| "there is no row".to_owned())
    }
}

impl<C> fmt::Debug for Batches<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").field("places", &self.places).field("number", &self.number).finish_non_exhaustive()
    }
}
