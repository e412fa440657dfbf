//! Parquet files, of which only the two columns are read that matter.
//!
//! What the file itself says of a column's type counts, not what the program that wrote it noted beside:
//!
//! | column | types |
//! |---|---|
//! | fingerprint | UINT64 or INT64 (the 64 bits as they are), for 64-bit fingerprints |
//! | | FIXED_LEN_BYTE_ARRAY or BYTE_ARRAY of exactly as many bytes: **big-endian**, the order of the hex digits |
//! | | STRING: hexadecimal digits |
//! | id | any integer (a negative one is refused), STRING, BYTE_ARRAY (read as UTF-8); null is as good as none |
//!
//! Encodings (dictionaries, too) and compression are the file's own affair; Brotli and LZO are not supported.
//!
//! Memory is bounded by the pages of the file, not by its row groups: pages are read one after another, and
//! [`BATCH`] rows of two columns are decoded at a time; texts stay in the pages that they came in.
//!
//! Parquet is read from its end, so a file that is compressed as a whole, or a pipe, is first copied to a temporary file
//! that has no name and goes away with the program.

mod columns;
mod file;
mod guard;
mod labels;

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use fpstore::Fingerprint;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use self::columns::{Fingerprints, Ids};
use self::file::ParquetFile;
use self::guard::guarded;
pub(super) use self::labels::Labels;
use super::{Entry, RawId, Selection, Source};
use crate::progress::Progress;

/// Rows that are decoded at a time.
const BATCH: usize = 8192;

/// A file whose columns are known to be readable.
#[derive(Debug)]
pub(super) struct Parquet {
    file: ParquetFile,
    metadata: ArrowReaderMetadata,
    fingerprint: usize,
    id: Option<usize>,
    selection: Selection,
    width: Option<u32>,
}

impl Parquet {
    /// Opens an input and looks at its columns.
    pub(super) fn open(
        source: &Source,
        selection: &Selection,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let file = ParquetFile::open(source, temp_dir, progress)?;
        Self::of(file, selection).map_err(|message| anyhow!("{}: {message}", source.name()))
    }

    fn of(file: ParquetFile, selection: &Selection) -> Result<Self, String> {
        let found = metadata(&file)?;
        let schema = found.schema();
        let missing = |name| missing(schema, name);
        let fingerprint = column(schema, &selection.fingerprint)?.ok_or_else(|| missing(&selection.fingerprint))?;
        let id = column(schema, &selection.id)?;
        if id.is_none() && selection.id_required {
            return Err(missing(&selection.id));
        }
        let data_type = |number: usize| schema.fields().get(number).map_or(&DataType::Null, |field| field.data_type());
        let about = |name: &str, message: String| format!("column \"{name}\": {message}");
        let width = columns::width(data_type(fingerprint)).map_err(|error| about(&selection.fingerprint, error))?;
        if let Some(id) = id {
            columns::check_id(data_type(id)).map_err(|error| about(&selection.id, error))?;
        }
        let wanted = |number| number == fingerprint || Some(number) == id;
        let metadata = with_views(&found, wanted)?;
        Ok(Self { file, metadata, fingerprint, id, selection: selection.clone(), width })
    }

    /// The width of the fingerprints, if the type of their column tells it.
    pub(super) fn width(&self) -> Option<u32> {
        self.width
    }

    /// Number of rows, as the file says.
    pub(super) fn row_count(&self) -> Option<u64> {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).ok()
    }

    /// The rows.
    pub(super) fn rows<F: Fingerprint>(self) -> Result<Rows<F>, String> {
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file, self.metadata);
        let mask = ProjectionMask::roots(builder.parquet_schema(), self.id.into_iter().chain([self.fingerprint]));
        let batches = guarded(|| builder.with_projection(mask).with_batch_size(BATCH).build())?;
        // Of the two, they stand in the order of the file.
        let place = |number: usize| {
            usize::from([self.id, Some(self.fingerprint)].into_iter().flatten().any(|other| other < number))
        };
        Ok(Rows {
            fingerprint: place(self.fingerprint),
            id: self.id.map(place),
            batches,
            batch: Batch::default(),
            row: 0,
            number: 0,
            selection: self.selection,
            width: PhantomData,
        })
    }
}

/// What the file says of itself.
fn metadata(file: &ParquetFile) -> Result<ArrowReaderMetadata, String> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    guarded(|| ArrowReaderMetadata::load(file, options))
}

/// The same with the texts of the columns that are wanted as views into pages: as strings of their own, one long text in a
/// dictionary could be copied for every row of a batch.
fn with_views(found: &ArrowReaderMetadata, wanted: impl Fn(usize) -> bool) -> Result<ArrowReaderMetadata, String> {
    let fields = found.schema().fields().iter().enumerate().map(|(number, field)| {
        let views = match field.data_type() {
            DataType::Utf8 => DataType::Utf8View,
            DataType::Binary => DataType::BinaryView,
            _ => return field.as_ref().clone(),
        };
        if wanted(number) { field.as_ref().clone().with_data_type(views) } else { field.as_ref().clone() }
    });
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields.collect::<Vec<_>>())));
    guarded(|| ArrowReaderMetadata::try_new(Arc::clone(found.metadata()), options))
}

/// A column that is wanted is not there.
fn missing(schema: &Schema, name: &str) -> String {
    let names: Vec<String> = schema.fields().iter().map(|field| format!("'{}'", field.name())).collect();
    format!("there is no column \"{name}\"; the columns are {}", names.join(", "))
}

/// Number of the column with that name.
fn column(schema: &Schema, name: &str) -> Result<Option<usize>, String> {
    let mut found = schema.fields().iter().enumerate().filter(|(_, field)| field.name() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(format!("the column \"{name}\" occurs twice")),
        (column, None) => Ok(column.map(|(number, _)| number)),
    }
}

/// The rows of a file.
#[derive(Debug)]
pub(super) struct Rows<F> {
    batches: ParquetRecordBatchReader,
    batch: Batch,
    /// The row in the batch.
    row: usize,
    /// Number of the row; the first is 1.
    number: u64,
    fingerprint: usize,
    id: Option<usize>,
    selection: Selection,
    width: PhantomData<F>,
}

/// Rows that are decoded.
#[derive(Debug, Default)]
struct Batch {
    fingerprints: Fingerprints,
    ids: Ids,
    length: usize,
}

impl<F: Fingerprint> Rows<F> {
    /// Number of the row that [`Self::advance`] came to last, or failed on; the first is 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Goes on to the next row; `false` at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, String> {
        self.number += 1;
        self.row += 1;
        while self.row >= self.batch.length {
            let batch = guarded(|| self.batches.next().transpose());
            let batch = batch.map_err(|error| format!("this row or one soon after it cannot be read: {error}"))?;
            let Some(batch) = batch else { return Ok(false) };
            self.batch = self.decoded(&batch)?;
            self.row = 0;
        }
        Ok(true)
    }

    /// The row that [`Self::advance`] came to.
    pub(super) fn entry(&self) -> Result<Entry<'_, F>, String> {
        let fingerprint = self.batch.fingerprints.get(self.row)?;
        let id = self.batch.ids.get(self.row)?;
        if id.is_none() && self.selection.id_required {
            return Err(format!("there is no \"{}\"", self.selection.id));
        }
        Ok(Entry { fingerprint, id })
    }

    /// The two columns of a batch.
    fn decoded(&self, batch: &RecordBatch) -> Result<Batch, String> {
        let column = |number: usize| batch.columns().get(number).ok_or("the file has lost a column");
        let fingerprints = Fingerprints::of(column(self.fingerprint)?)?;
        let ids = match self.id {
            Some(id) => Ids::of(column(id)?)?,
            None => Ids::None,
        };
        Ok(Batch { fingerprints, ids, length: batch.num_rows() })
    }
}

#[cfg(test)]
mod tests;
